// A folder for the match files of servers that a test makes and kills, and the store that writes
// them there.
#ifndef CM_TEST_MATCHES_H
#define CM_TEST_MATCHES_H

#include "server/record/store/store.h"

#define MATCHES_DIRECTORY 128u

// False: the machine has no place for it.
bool matches_make(char directory[MATCHES_DIRECTORY], cm_store **store);
// What a killed server leaves goes on elsewhere: all files as they stand, in a new folder with a
// store of its own. The killed one's store is the caller's to destroy, and its folder to remove.
bool matches_copy(const char *from, char directory[MATCHES_DIRECTORY], cm_store **store);
void matches_remove(const char *directory);

#endif
