// Messages of a world while it steps: the handler, if set, receives each with a stable code, and a
// counter for each code counts them (carom_world_stats.log_counts). Part of carom/world.h.
//
// Without a handler nothing is printed. A handler never influences the simulation: it belongs to
// this process and not to the state, and a repeated step sends the same messages again. No message
// ends the program; a handler may. A refused call returns its error (carom_last_error);
// carom/check.h finds settings of a scene that have no effect. Source: JP2003526160A, errors
// (fatal, debug, warning), each with a handler that can be replaced.
#ifndef CAROM_LOG_H
#define CAROM_LOG_H

#include "carom/id.h"
#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct carom_world;

// One table of codes: number, name, level, text of what is counted. Append only. An error left
// something out, a warning is of a step that is less exact than its solver promises, and where
// another way was taken to the same end it is for debugging. A message counts 1, but CONTACTS_CUT
// all of one stage of a step. Of an island it names the body of the lowest slot; of a game's row,
// the first that the row names.
#define CAROM_LOG_TABLE(X)                                                                         \
    X(CONTACTS_CUT, "contacts_cut", ERROR, "contacts above the limit were left out")               \
    X(BODY_PUT_TO_REST, "body_put_to_rest", ERROR,                                                 \
      "bodies were put to rest, their state was not finite")                                       \
    X(VOLUME_OVER_BOUND, "volume_over_bound", WARNING,                                             \
      "ticks wanted more substeps or more pairs than the volume solver's bounds allow")            \
    X(IMPULSE_HITS_CAPPED, "impulse_hits_capped", WARNING,                                         \
      "steps whose hits had not ended after 256 rounds")                                           \
    X(IMPULSE_PRESS_CAPPED, "impulse_press_capped", DEBUG,                                         \
      "steps in which what presses had not settled after 128 rounds")                              \
    X(LCP_ROWS_CUT, "lcp_rows_cut", ERROR,                                                         \
      "joints or contacts were left out, rows of all are above what there is room for")            \
    X(LCP_ROW_REFUSED, "lcp_row_refused", ERROR, "rows of a game were left out, out of range")     \
    X(LCP_ISLAND_LARGE, "lcp_island_large", WARNING,                                               \
      "islands were solved in blocks, less exactly: they had more rows than direct_rows")          \
    X(LCP_UNSOLVED, "lcp_unsolved", WARNING,                                                       \
      "islands were solved in blocks, less exactly: they defied a direct solution")                \
    X(LCP_SINGULAR, "lcp_singular", DEBUG,                                                         \
      "islands whose rows repeat each other were made softer")                                     \
    X(LCP_PYRAMID_CYCLED, "lcp_pyramid_cycled", DEBUG,                                             \
      "islands whose friction pyramids had no end of pivoting took boxes")

typedef enum carom_log_code {
#define CAROM_LOG_ENUM(id, name, level, text) CAROM_LOG_##id,
    CAROM_LOG_TABLE(CAROM_LOG_ENUM)
#undef CAROM_LOG_ENUM
        CAROM_LOG_CODE_COUNT
} carom_log_code;
CAROM_ENUM_32(carom_log_code);

typedef struct carom_log_message {
    const struct carom_world *world; // which steps: not to be called from the handler
    carom_log_code code;
    carom_log_level level;
    uint64_t tick;      // of the world before the step
    carom_body_id body; // the null id: of none
    uint64_t count;     // 1 or more
    const char *text;   // a constant
} carom_log_message;

// `tell` may be NULL: no handler. It must return, may keep a copy of the message, and may call no
// function of the world.
typedef struct carom_log {
    void *context;
    void (*tell)(void *context, const carom_log_message *message);
} carom_log;

// Replaces the world's handler; NULL: none. Restoring or decoding an image keeps it.
CAROM_API carom_result carom_world_set_log(struct carom_world *world, const carom_log *log);

// A code's name ("contacts_cut"), text and level; "" and DEBUG for a number that is none.
CAROM_API const char *carom_log_name(carom_log_code code);
CAROM_API const char *carom_log_text(carom_log_code code);
CAROM_API carom_log_level carom_log_level_of(carom_log_code code);

#ifdef __cplusplus
}
#endif
#endif
