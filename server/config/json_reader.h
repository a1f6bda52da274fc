// The one reader of JSON in the server: configuration, admin requests and answers, cases of
// `carom eval`, tables of the benchmark. (Scenes and inputs have their own,
// shared/scene/map_json.h, which goes by the descriptors of their messages, and without which the
// SDK is.)
//
// The text is checked whole before it is parsed: its size by the caller's cap, depth and number of
// values by those of scenes, keys that stand twice. The first failure stays: its path, its line and
// what was expected; after it every read gives zeros, so that callers ask once, at the end.
// Typical: an object of ten keys.
#ifndef CM_SERVER_CONFIG_JSON_READER_H
#define CM_SERVER_CONFIG_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/scene/map_json.h"
#include "shared/scene/scene.h"

// Of the reader, as long as that is open. NULL: it is not there; every call takes it.
typedef struct json_t cm_json_value;

typedef struct cm_json_reader {
    cm_json_text text;
    cm_check_path path;
    bool failed;
    cm_scene_error *error;
    cm_json_value *root;
} cm_json_reader;

// The object at the root; NULL, with the reason in `error`: it is none, or above a limit. Pair with
// cm_json_close, whatever was returned. Texts and error outlive the reader.
const cm_json_value *cm_json_open(cm_json_reader *reader, const char *text, size_t size,
                                  size_t size_max, cm_scene_error *error);
void cm_json_close(cm_json_reader *reader);

// The line of a member of the object that is being read.
uint32_t cm_json_line(cm_json_reader *reader, const char *key);

bool cm_json_failed(const cm_json_reader *reader);
// Fails at the key of the object that is being read (NULL: at the object itself).
void cm_json_fail(cm_json_reader *reader, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Goes into a member or an item, so that failures name its path; NULL where it is not there (or is
// no object, array: a failure). Pair with cm_json_leave, whatever was returned. Keys are kept: they
// must be literals, or the text's own.
const cm_json_value *cm_json_enter_object(cm_json_reader *reader, const cm_json_value *object,
                                          const char *key);
const cm_json_value *cm_json_enter_array(cm_json_reader *reader, const cm_json_value *object,
                                         const char *key, uint32_t *count);
const cm_json_value *cm_json_enter_item(cm_json_reader *reader, const cm_json_value *array,
                                        uint32_t index);
void cm_json_leave(cm_json_reader *reader);
// Like cm_json_enter_item, of an array of numbers; no leave.
double cm_json_item(cm_json_reader *reader, const cm_json_value *array, uint32_t index);

// Without a failure, whatever it is.
bool cm_json_has(const cm_json_value *object, const char *key);
const cm_json_value *cm_json_member(const cm_json_value *object, const char *key);
const cm_json_value *cm_json_at(const cm_json_value *array, uint32_t index);
// Members of an object in their order, from number 0 on; NULL behind the last one.
const cm_json_value *cm_json_each(const cm_json_value *object, void **next, const char **key);
uint32_t cm_json_count(const cm_json_value *array);
bool cm_json_is_object(const cm_json_value *value);
bool cm_json_is_array(const cm_json_value *value);
bool cm_json_is_number(const cm_json_value *value);
bool cm_json_is_null(const cm_json_value *value);
const char *cm_json_text_of(const cm_json_value *value);           // NULL: no text
bool cm_json_bool_of(const cm_json_value *value, bool *out);       // false: neither true nor false
bool cm_json_integer_of(const cm_json_value *value, int64_t *out); // false: no whole number

// A finite number within low..high. Without a fallback (NULL) the key must be there.
double cm_json_number(cm_json_reader *reader, const cm_json_value *object, const char *key,
                      double low, double high, const double *fallback);
bool cm_json_bool(cm_json_reader *reader, const cm_json_value *object, const char *key,
                  bool fallback);
// One of `choices` ("a|b|c"): its index; the first one where the key is missing.
uint32_t cm_json_choice(cm_json_reader *reader, const cm_json_value *object, const char *key,
                        const char *choices);
// An array of least to most finite numbers; returns how many. A missing key gives 0 where optional.
uint32_t cm_json_numbers(cm_json_reader *reader, const cm_json_value *object, const char *key,
                         uint32_t least, uint32_t most, bool optional, double *values);
// Three numbers, or two (then z = 0). A missing key is zero where optional.
void cm_json_vector(cm_json_reader *reader, const cm_json_value *object, const char *key,
                    bool optional, double v[3]);
// The one of two names of a field that is there (the first where neither is; both: a failure).
const char *cm_json_name(cm_json_reader *reader, const cm_json_value *object, const char *name,
                         const char *other);
// Refuses members whose keys are none of "a|b|c", with the one that was meant, or `help`.
void cm_json_end_keys(cm_json_reader *reader, const cm_json_value *object, const char *choices,
                      const char *help);

// The object as JSON without some of its members; free it. NULL: no memory.
char *cm_json_print_without(const cm_json_value *object, const char *const *keys, size_t count);

#endif
