// The head of a match file: the rows of its table `meta`, in the order of their keys.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_META_H
#define CM_SERVER_RECORD_FORMAT_MATCH_META_H

#include "server/record/format/match_def.h"

#define CM_META_ROWS_MAX 18u

typedef struct cm_meta_row {
    const char *key;
    bool is_text; // else a number, in decimal
    char text[72];
} cm_meta_row;

// Returns how many. `sign_key`: its public half as text, or "".
uint32_t cm_meta_rows(const cm_match_def *def, const char *sign_key,
                      cm_meta_row rows[CM_META_ROWS_MAX]);
// Of a match that goes on from another: the first tick of the gap, once it is known.
void cm_meta_set_gap_from(cm_meta_row *rows, uint32_t count, uint64_t gap_from);

#endif
