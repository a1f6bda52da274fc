// Finds the process that holds a database's lock, as far as the kernel shows it, for an error
// message: its reader can then end that program or wait for it.
#ifndef CM_SERVER_RECORD_FORMAT_LOCK_HOLDER_H
#define CM_SERVER_RECORD_FORMAT_LOCK_HOLDER_H

#include <stddef.h>

// "process 123 (sqlite3)" for the first other process that holds a lock for writing on the file, or
// on its shared memory (with WAL); else "another program".
void cm_lock_holder(const char *path, char *text, size_t size);

#endif
