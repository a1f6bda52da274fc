// Reading match files. A file is untrusted: it is opened read-only in SQLite's defensive mode with
// limits, and every value is checked before use. A file without an end (a killed server) opens and
// reads to its last committed tick; its log beside it is read, and neither is changed. A file that
// a server writes now is refused: that server has its only connection.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_FILE_H
#define CM_SERVER_RECORD_FORMAT_MATCH_FILE_H

#include "server/record/format/match_def.h"

typedef struct cm_match_file cm_match_file;

typedef struct cm_match_info {
    uint64_t match_id;
    uint32_t format;         // of the file
    uint32_t engine_version; // that recorded it
    uint64_t layout_hash;    // of the engine's encoded form
    char engine_text[64];    // for people: version and commit
    char module[32];
    uint32_t module_version, module_abi;
    char room[CAROM_ROOM_NAME_MAX + 1]; // its name; "": none, or not recorded
    // Who opened it, config/room_spec.h; "": the configuration, or not recorded.
    char opened[CM_ROOM_OPENED_MAX];
    char module_source[65], module_file[65]; // hashes of 64 hexadecimal digits; "": built in
    char sign_key[65];                       // public, 64 hexadecimal digits; "": unsigned
    uint64_t seed;
    uint64_t started_unix_ms;
    uint32_t tick_rate;
    // For a file that continues a match whose recording failed: that match; the first match of the
    // series; and the ticks from `gap_from` to `gap_to`, of which only the state after the last is
    // kept. Its own first tick is gap_to. All 0: it begins with tick 0.
    uint64_t parent, origin, gap_from, gap_to;
    uint64_t ticks;                       // last committed tick
    uint64_t inputs;                      // changes of inputs recorded
    uint64_t input_bytes, keyframe_bytes; // as packed
    uint32_t keyframes;
    uint32_t joins, leaves;
    uint32_t resumes; // times that another server went on with it
    cm_match_end end;
    uint64_t bytes; // of the file, with its log where one is left
} cm_match_info;

typedef struct cm_match_error {
    char message[320]; // names the table, row and what was expected
} cm_match_error;

// CAROM_ERROR_IO (unreadable, or held by a server), _MAGIC (not a match file), _VERSION (a format
// that this build does not read), _CORRUPT. Opening checks the form of every row once; proof.h and
// replay.h verify the contents.
carom_result cm_match_open(const char *path, cm_match_file **file, cm_match_error *error);
// The same for a match that is proved next (proof.h), which reads every row: those of ticks are not
// checked here. In the info inputs, joins, leaves and resumes stay 0; ticks is that of `last`.
carom_result cm_match_open_unread(const char *path, cm_match_file **file, cm_match_error *error);
void cm_match_close(cm_match_file *file);

// The file as its own writer's connection has it: rows of committed transactions, and those of an
// open one, which are for nobody. Between two calls of the writer, which outlives it.
struct sqlite3;
carom_result cm_match_attach(struct sqlite3 *db, cm_match_file **file, cm_match_error *error);

// The head and the end alone, for lists: rows of ticks are neither checked nor counted. Of the info
// inputs, keyframes, joins and leaves stay 0.
typedef struct cm_match_head {
    cm_match_info info;
    char scene[CM_NAME_MAX]; // its name
    uint8_t chain[32];       // the value at the end
} cm_match_head;
carom_result cm_match_head_read(const char *path, cm_match_head *head, cm_match_error *error);
void cm_match_info_get(const cm_match_file *file, cm_match_info *info);
// The scene, owned by the file. NULL only where another engine recorded it and this one refuses it.
const cm_scene *cm_match_scene(const cm_match_file *file);

// The last committed tick and how the match ended, as they stand now.
carom_result cm_match_last(cm_match_file *file, uint64_t *tick, cm_match_end *end,
                           cm_match_error *error);

// Ticks in order from the first (info.gap_to: that one is a state, and its joins say who is there).
// Valid until the next call. CAROM_ERROR_NOT_FOUND at the end.
carom_result cm_match_next(cm_match_file *file, cm_recorded_tick *tick, cm_match_error *error);

// Back to before `tick`, which cm_match_next gives next; or to the start.
void cm_match_seek(cm_match_file *file, uint64_t tick);

// The tick of the last keyframe at `tick` or before. CAROM_ERROR_NOT_FOUND where there is none.
carom_result cm_match_keyframe_before(cm_match_file *file, uint64_t tick, uint64_t *found,
                                      cm_match_error *error);
// The first keyframe at `from` or later: an encoded game, valid until the next call or close.
// CAROM_ERROR_NOT_FOUND where there is none.
carom_result cm_match_keyframe(cm_match_file *file, uint64_t from, uint64_t *tick,
                               const uint8_t **bytes, size_t *size, cm_match_error *error);

#endif
