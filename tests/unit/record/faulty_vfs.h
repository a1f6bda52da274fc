// A disk that fails on demand, under SQLite: the default file system until told, from then on every
// write, or every sync, fails, or a sync never returns.
#ifndef CM_RECORD_FAULTY_VFS_H
#define CM_RECORD_FAULTY_VFS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct faulty_disk {
    bool fail_writes;                   // as a full disk
    bool fail_syncs;                    // as a disk that lost what it had
    volatile bool *hang;                // hang[0]: a sync sets hang[1] and stays; or NULL
    uint32_t failed;                    // calls that were failed
    uint32_t writes_after, syncs_after; // calls after the first that failed
} faulty_disk;

extern faulty_disk faulty;

// A disk that is well, as SQLite's default.
void faulty_install(void);

#endif
