// The cases of `carom eval`: pure functions, one case of JSON in, one line of JSON out.
//
// A case is a file NAME.c that defines `const cm_eval_case cm_eval_NAME_case` and stands in the
// table of eval.c. It reads with `in` (json_reader.h), in any order, and writes with the cm_out
// functions. Every object must be closed with cm_json_end_keys, which refuses keys that the case
// has not read.
//
// Failing is sticky: the first failure is kept with its line and path, every later read gives
// zeros, and no line comes out. So a case reads all, then asks cm_json_failed once.
#ifndef CM_SERVER_TOOLS_EVAL_EVAL_H
#define CM_SERVER_TOOLS_EVAL_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "server/config/json_reader.h"
#include "shared/scene/scene.h"

#define CM_EVAL_HELP      "see 'carom help eval'" // where a key is unknown
#define CM_EVAL_DEPTH_MAX 16u                     // of what is written

typedef struct cm_eval {
    cm_json_reader in; // what cases read with
    FILE *out;         // to memory
    uint32_t depth;
    bool started[CM_EVAL_DEPTH_MAX + 1], closes_array[CM_EVAL_DEPTH_MAX + 1];
} cm_eval;

typedef struct cm_eval_case {
    const char *name;
    const char *summary; // one line
    const char *text;    // fields in and out, for `carom help eval`
    void (*run)(cm_eval *eval, const cm_json_value *root);
} cm_eval_case;

extern const cm_eval_case cm_eval_impact_case, cm_eval_circle_case, cm_eval_lcp_case,
    cm_eval_volume_case;
extern const cm_eval_case *const cm_eval_cases[]; // all of them; NULL ends it

#define CM_EVAL_TEXT_MAX (16u << 20) // bytes of a case

// Runs a case on JSON text; `line` (free with free) comes without its newline. Other results than
// CAROM_OK: CAROM_ERROR_ARGUMENT where the case is refused, CAROM_ERROR_MEMORY; with an error.
carom_result cm_eval_run(const cm_eval_case *which, const char *text, size_t size, char **line,
                         cm_scene_error *error);

// Out: the line. Key NULL inside an array. 17 digits; a number that is not finite is a failure.
// -----

void cm_out_object(cm_eval *eval, const char *key);
void cm_out_array(cm_eval *eval, const char *key);
void cm_out_end(cm_eval *eval);
void cm_out_number(cm_eval *eval, const char *key, double value);
void cm_out_bool(cm_eval *eval, const char *key, bool value);
void cm_out_text(cm_eval *eval, const char *key, const char *text); // no character to escape
void cm_out_vector(cm_eval *eval, const char *key, carom_dvec3 v);
void cm_out_numbers(cm_eval *eval, const char *key, const double *values, size_t count);

#endif
