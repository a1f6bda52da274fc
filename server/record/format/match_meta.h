// The head of a match file: the rows of its table `meta`. One table of keys, in their order in the
// file, which is that of the chain, serves the writer and the reader.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_META_H
#define CM_SERVER_RECORD_FORMAT_MATCH_META_H

#include "server/record/format/match_file.h"

#define CM_META_KEYS     19u
#define CM_META_TEXT_MAX CM_ROOM_OPENED_MAX // the longest

typedef enum cm_meta_kind {
    CM_META_HEX,
    CM_META_NUMBER,
    CM_META_U32,
    CM_META_TEXT,
    CM_META_NAME, // a text of printable characters without spaces
} cm_meta_kind;

typedef struct cm_meta_key {
    const char *name;
    cm_meta_kind kind;
    size_t offset, size; // in cm_match_info
    enum {
        CM_META_ALWAYS,
        CM_META_OF_SEAM, // of a match that goes on from another
        CM_META_LATER,   // files of the first days have none
        CM_META_GIVEN,   // where it is not ""
    } when;
} cm_meta_key;

extern const cm_meta_key cm_meta_keys[CM_META_KEYS];

// The head of a match that begins. `sign_key`: its public half as text, or "". The first tick of a
// gap is set once it is known.
void cm_meta_begin(const cm_match_def *def, const char *sign_key, cm_match_info *info);
// A value as the chain has it. True if the table has it so too; else it is a number there.
bool cm_meta_text(const cm_match_info *info, const cm_meta_key *key, char text[CM_META_TEXT_MAX]);

#endif
