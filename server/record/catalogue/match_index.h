// The index of matches in the catalogue: the matches that a server recorded, with hashes of each
// finished file. Two hashes (BLAKE2b, 32 bytes): `chain`, the last value of the match's chain
// (chain.h), which covers everything recorded, in its order, and stays the same when names are
// erased or the file is copied; and `file_hash` of the file's bytes as its server left it, which
// shows that the file has not changed since. Both are computed when the match has ended and its
// file is one file; a command that changes a file (erase-player) computes it again.
#ifndef CM_SERVER_RECORD_CATALOGUE_MATCH_INDEX_H
#define CM_SERVER_RECORD_CATALOGUE_MATCH_INDEX_H

#include "server/record/catalogue/catalogue.h"
#include "server/record/format/match_file.h"

#define CM_INDEX_HASH_TEXT 65u // 64 hexadecimal digits and a NUL
#define CM_INDEX_FILE_MAX  256u

typedef struct cm_match_entry {
    uint64_t match_id;
    char file[CM_INDEX_FILE_MAX];      // its name
    char directory[CM_INDEX_FILE_MAX]; // where it was put, without links; a moved one is as good
    char scene[CM_NAME_MAX];
    char module[32];
    uint32_t module_version, engine_version, tick_rate;
    uint64_t started_unix_ms;
    bool is_ended; // else what follows is empty: it runs, or its server was killed
    char end[16];  // cm_match_end_name
    uint64_t ticks, bytes;
    char chain[CM_INDEX_HASH_TEXT], file_hash[CM_INDEX_HASH_TEXT];
} cm_match_entry;

// Of a match that begins; `path` of its file.
void cm_match_entry_begin(cm_match_entry *entry, const cm_match_def *def, const char *path);
// Of a file that is whole: its head, its end and both hashes, read from it. CAROM_ERROR_STATE: it
// has no end. Errors as cm_match_open.
carom_result cm_match_entry_read(cm_match_entry *entry, const char *path, cm_match_error *error);
// A directory as entries name it.
void cm_match_index_directory(const char *directory, char name[CM_INDEX_FILE_MAX]);
// BLAKE2b-256 of a file's bytes, as text.
carom_result cm_match_file_hash(const char *path, char hash[CM_INDEX_HASH_TEXT],
                                cm_match_error *error);

// Puts or replaces the row of entry->match_id; the database is made where there is none.
carom_result cm_match_index_put(const char *db, const cm_match_entry *entry, cm_scene_error *error);
// The same, but fails with CAROM_ERROR_IO if another process holds the database's lock.
carom_result cm_match_index_try(const char *db, const cm_match_entry *entry, cm_scene_error *error);
// CAROM_OK also where there was no such row.
carom_result cm_match_index_remove(const char *db, uint64_t match_id, cm_scene_error *error);
// Every row in order of ids, until `row` returns false.
carom_result cm_match_index_list(const char *db,
                                 bool (*row)(void *context, const cm_match_entry *entry),
                                 void *context, cm_scene_error *error);

#endif
