// Finds the known name that a misspelt one probably means, for "did you mean". Pure.
#ifndef CM_SCENE_SPELLING_H
#define CM_SCENE_SPELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_SPELLING_MAX 80u // bytes of a name that count; names of keys and variables are shorter

// Levenshtein's distance (Soviet Physics Doklady 10, 1966): how many letters are put in, taken out
// or changed.
uint32_t cm_spelling_distance(const char *a, const char *b);

// The name that `name` probably means, of `count` texts that are `stride` bytes apart (one member
// of the rows of a table); NULL where none is near.
const char *cm_spelling_nearest(const char *name, const char *const *names, size_t count,
                                size_t stride);

// True if the two are near enough to suggest one for the other: at most a third of the letters
// differ.
bool cm_spelling_is_near(const char *name, const char *known);

#endif
