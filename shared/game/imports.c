// Apart from the table of modules, so that a reader of module files needs no built-in module, nor
// the simulation that it calls.
#include "shared/game/imports.h"

#include <stddef.h>
#include <string.h>

bool cm_module_may_import(const char *symbol, const char **why)
{
    static const struct {
        const char *name, *why; // NULL: allowed
    } known[] = {
#define ALLOWED(name)      {#name, NULL},
#define REFUSED(name, why) {#name, why},
#include "shared/game/imports.def"
#undef ALLOWED
#undef REFUSED
        {"memcpy", NULL},
        {"memmove", NULL},
        {"memset", NULL},
        {"memcmp", NULL},
    };
    *why = "expected carom_* functions for modules, memcpy, memmove, memset and memcmp only";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, symbol) == 0) {
            *why = known[i].why;
            return known[i].why == NULL;
        }
    }
    return false;
}
