// The modules that this process knows: those built in, and those that its start added from files.
//
// The table is the process's, and is complete before anything is simulated: a server, a replay and
// the store's thread read it without locks. An added module lives until the process ends.
#ifndef CM_GAME_MODULES_H
#define CM_GAME_MODULES_H

#include "carom/game.h"

#define CM_MODULES_MAX      16 // from files
#define CM_MODULE_HASH_TEXT 65 // 64 hexadecimal digits and the NUL

// By name; NULL for an unknown one. "" gives an empty module.
const carom_module *cm_module_find(const char *name);

// Adds one that was loaded. `file_hash`: of the file that it came from. The module must be valid
// and outlive the process. CAROM_ERROR_ARGUMENT: not valid, or without a name; CAROM_ERROR_STATE:
// the name is taken; CAROM_ERROR_FULL.
carom_result cm_module_add(const carom_module *module, const char file_hash[CM_MODULE_HASH_TEXT]);

// Of the file that a module came from: "" for one that is built in, or brought by the caller.
const char *cm_module_file_hash(const carom_module *module);

// True if both sides of a match run the same rules: name, version, ABI and hash of the source.
bool cm_module_agrees(const carom_module *module, const char *name, uint32_t version, uint32_t abi,
                      const char *source);

#endif
