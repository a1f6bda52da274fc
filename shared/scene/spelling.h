// Which known name an unknown one was meant to be, for "did you mean". Pure.
#ifndef CM_SCENE_SPELLING_H
#define CM_SCENE_SPELLING_H

#include <stdbool.h>
#include <stdint.h>

#define CM_SPELLING_MAX 80u // bytes of a name that count; names of keys and variables are shorter

// Levenshtein's distance (Soviet Physics Doklady 10, 1966): how many letters are put in, taken out
// or changed.
uint32_t cm_spelling_distance(const char *a, const char *b);

// Whether they are near enough to name one for the other: a third of the letters at most.
bool cm_spelling_is_near(const char *name, const char *known);

#endif
