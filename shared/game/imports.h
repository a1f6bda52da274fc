// The functions that a game module from a file may import: imports.def, and the functions to which
// compilers emit calls by themselves.
#ifndef CM_GAME_IMPORTS_H
#define CM_GAME_IMPORTS_H

#include <stdbool.h>

// True, or false with why not.
bool cm_module_may_import(const char *symbol, const char **why);

#endif
