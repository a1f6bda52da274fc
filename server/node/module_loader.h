// Loads a game module from a file: read once, checked (module_file.h), and the very bytes that were
// checked are linked, out of memory that nobody can change any more: first in a child, and here if
// the child survives that. Nothing of it runs before the host calls its callbacks, since there are
// no constructors.
//
// Who may write the file may run code as the server: it must belong to root or to the server's own
// user, and not be writable for all.
#ifndef CM_SERVER_NODE_MODULE_LOADER_H
#define CM_SERVER_NODE_MODULE_LOADER_H

#include "server/node/module_file.h"
#include "shared/game/modules.h"

typedef struct cm_loaded_module {
    const carom_module *module;          // valid until the process ends
    char file_hash[CM_MODULE_HASH_TEXT]; // BLAKE2b-256 of the file
} cm_loaded_module;

// The rules of this build and machine.
cm_module_rules cm_module_rules_here(void);

// CAROM_OK, or why not with `error`: "PATH: what is wrong, what was expected". CAROM_ERROR_IO: it
// cannot be read or linked; else as cm_module_file_check, or CAROM_ERROR_VERSION: another ABI.
carom_result cm_module_load(const char *path, cm_loaded_module *loaded, char *error,
                            size_t error_size);

// The bytes of the files that were loaded: a process that begins later takes these, whatever the
// files have become meanwhile.
typedef struct cm_module_files {
    uint32_t count;
    struct {
        uint8_t *bytes;
        size_t size;
    } files[CM_MODULES_MAX];
} cm_module_files; // zeroed: none

// Loads the files of a list with commas between them and adds each to the modules that this process
// knows. An empty list is none. `kept` receives their bytes, unless it is NULL.
carom_result cm_module_load_list(const char *paths, cm_module_files *kept, char *error,
                                 size_t error_size);
// The same of a file's bytes; errors are told of "module".
carom_result cm_module_load_bytes(const uint8_t *bytes, size_t size, char *error,
                                  size_t error_size);
void cm_module_files_free(cm_module_files *files);

// Of a scene whose module is not known.
#define CM_NO_MODULE                                                                               \
    "no module '%.64s' is built in or loaded, expected sandbox, none, or --module FILE.so"

#endif
