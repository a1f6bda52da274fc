// A game module as a file: an ELF shared library of this machine, checked before any of it is
// mapped or run, so that a module is its state and nothing else. Refused, with a reason: imports
// that are not on the list (shared/game/imports.def), needed libraries, constructors, destructors
// and indirect functions, thread-local data, writable data outside RELRO, relocations of code,
// executable stacks, dynamic tags that the table does not know, and a build without this engine's
// determinism flags. It is a check of discipline, not a sandbox: machine code can do what it likes.
#ifndef CM_SERVER_NODE_MODULE_FILE_H
#define CM_SERVER_NODE_MODULE_FILE_H

#include "server/node/elf.h"

#define CM_MODULE_FILE_MAX (16u << 20)     // bytes of a file
#define CM_MODULE_PREFIX   "carom_module_" // of the one symbol that is exported for us

typedef struct cm_module_file {
    char name[32];       // of the descriptor's symbol, without the prefix
    uint64_t descriptor; // where it lies once mapped, relative
    char source[65];     // of the record that the module's Makefile wrote
    cm_elf_part parts[CM_ELF_SEGMENTS_MAX];
    uint32_t part_count;
} cm_module_file;

typedef struct cm_module_rules {
    const char *flags;        // compiler flags that must have been used, with blanks between them
    uint64_t page;            // of this machine's memory: a power of two
    uint64_t descriptor_size; // sizeof(carom_module)
} cm_module_rules;

// CAROM_OK with `file` filled, or why not: CAROM_ERROR_MAGIC (not a shared library of this
// machine), CAROM_ERROR_CORRUPT (its form is broken), CAROM_ERROR_ARGUMENT (against the rules),
// each with `error` as text for people, without the file's name.
carom_result cm_module_file_check(const uint8_t *bytes, size_t size, const cm_module_rules *rules,
                                  cm_module_file *file, char *error, size_t error_size);

#endif
