// The files of a new module: what `carom module new` writes.
#ifndef CM_SERVER_TOOLS_MODULE_TEMPLATE_H
#define CM_SERVER_TOOLS_MODULE_TEMPLATE_H

#include "carom/types.h"

// Writes the folder DIRECTORY/NAME with module.c, Makefile, CMakeLists.txt, NAME.json and
// README.md. CAROM_ERROR_ARGUMENT for a name that no module may have, CAROM_ERROR_STATE where the
// folder is there already, CAROM_ERROR_IO; `error` has the file and the reason.
carom_result cm_template_write(const char *directory, const char *name, char *error,
                               size_t error_size);

#endif
