// The cases of `carom eval`: pure functions, one case of JSON in, one line of JSON out.
//
// A case is a file NAME.c that defines `const cm_eval_case cm_eval_NAME_case` and stands in the
// table of eval.c. It reads with the functions below, in any order, and writes with the cm_out
// functions. Every object must be closed with cm_eval_end_keys, which refuses keys that nobody
// asked for.
//
// Failing is sticky: the first failure is kept with its line and path, every later read gives
// zeros, and no line comes out. So a case reads all, then asks cm_eval_failed once.
#ifndef CM_SERVER_TOOLS_EVAL_EVAL_H
#define CM_SERVER_TOOLS_EVAL_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/scene/scene.h"

struct json_t;

typedef struct cm_eval cm_eval;

typedef struct cm_eval_case {
    const char *name;
    const char *summary; // one line
    const char *text;    // fields in and out, for `carom help eval`
    void (*run)(cm_eval *eval, const struct json_t *root);
} cm_eval_case;

extern const cm_eval_case cm_eval_impact_case, cm_eval_circle_case, cm_eval_lcp_case,
    cm_eval_volume_case;
extern const cm_eval_case *const cm_eval_cases[]; // all of them; NULL ends it

#define CM_EVAL_TEXT_MAX (16u << 20) // bytes of a case

// Runs a case on JSON text; `line` (free with free) comes without its newline. Other results than
// CAROM_OK: CAROM_ERROR_ARGUMENT where the case is refused, CAROM_ERROR_MEMORY; with an error.
carom_result cm_eval_run(const cm_eval_case *which, const char *text, size_t size, char **line,
                         cm_scene_error *error);

// In ---------------------------------------------------------------------------------------------

bool cm_eval_failed(const cm_eval *eval);
// Fails at the key of the object that is being read (NULL: at the object itself).
void cm_eval_fail(cm_eval *eval, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Goes into a member or an item, so that failures name its path; NULL where it is not there (or is
// no object, array: a failure). Pair with cm_eval_leave, whatever was returned. Keys are kept: they
// must be literals.
const struct json_t *cm_eval_enter_object(cm_eval *eval, const struct json_t *object,
                                          const char *key);
const struct json_t *cm_eval_enter_array(cm_eval *eval, const struct json_t *object,
                                         const char *key, uint32_t *count);
const struct json_t *cm_eval_enter_item(cm_eval *eval, const struct json_t *array, uint32_t index);
void cm_eval_leave(cm_eval *eval);
// Like cm_eval_enter_item, of an array of numbers; no leave.
double cm_eval_item(cm_eval *eval, const struct json_t *array, uint32_t index);

bool cm_eval_has(const struct json_t *object, const char *key);
// A finite number within low..high. Without a fallback (NULL) the key must be there.
double cm_eval_number(cm_eval *eval, const struct json_t *object, const char *key, double low,
                      double high, const double *fallback);
bool cm_eval_bool(cm_eval *eval, const struct json_t *object, const char *key, bool fallback);
// One of `choices` ("a|b|c"): its index; the first one where the key is missing.
uint32_t cm_eval_choice(cm_eval *eval, const struct json_t *object, const char *key,
                        const char *choices);
// An array of least to most finite numbers; returns how many. A missing key gives 0 where optional.
uint32_t cm_eval_numbers(cm_eval *eval, const struct json_t *object, const char *key,
                         uint32_t least, uint32_t most, bool optional, double *values);
// Three numbers, or two (then z = 0). A missing key is zero where optional.
void cm_eval_vector(cm_eval *eval, const struct json_t *object, const char *key, bool optional,
                    double v[3]);
// The one of two names of a field that is there (the first where neither is; both: a failure).
const char *cm_eval_name(cm_eval *eval, const struct json_t *object, const char *name,
                         const char *other);
// Refuses members whose keys are none of the `count` given.
void cm_eval_end_keys(cm_eval *eval, const struct json_t *object, const char *const *keys,
                      size_t count);

// Out: the line. Key NULL inside an array. 17 digits; a number that is not finite is a failure.
// -----

void cm_out_object(cm_eval *eval, const char *key);
void cm_out_array(cm_eval *eval, const char *key);
void cm_out_end(cm_eval *eval);
void cm_out_number(cm_eval *eval, const char *key, double value);
void cm_out_bool(cm_eval *eval, const char *key, bool value);
void cm_out_text(cm_eval *eval, const char *key, const char *text); // no character to escape
void cm_out_numbers(cm_eval *eval, const char *key, const double *values, size_t count);

#endif
