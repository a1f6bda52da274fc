// A disk in memory under the real SQLite: it fails, fills up, tears writes, and loses power at any
// one of its operations, drawn from a seed. What would be on the platter then can be written to
// real files for the reader.
//
// A file has what the last honest sync made durable, and what was written since. A kill keeps both;
// a loss of power keeps of each later write some sectors of 512 bytes.
#ifndef CM_TESTS_MEMORY_DISK_H
#define CM_TESTS_MEMORY_DISK_H

#include <stdbool.h>

#include "shared/base/rng.h"

typedef enum disk_fault {
    DISK_WELL,
    DISK_KILL,       // the process dies: what was written stays
    DISK_POWER,      // and the machine: what was not synced may be gone, or torn
    DISK_LYING,      // the same, and a sync does nothing
    DISK_FULL,       // no write from here on that makes a file longer
    DISK_WRITE_FAIL, // one write fails, half of it done; the disk is well again
    DISK_SYNC_FAIL,  // one sync fails; the disk is well again
    DISK_FAULTS,
} disk_fault;

typedef struct disk_counts {
    uint64_t writes, syncs, truncations, torn_sectors, lost_writes;
} disk_counts;

extern disk_counts disk_seen;

void disk_install(void);   // as the default VFS
void disk_uninstall(void); // the system's again
// An empty disk; the fault strikes at the operation (write, sync, truncation) of this number.
void disk_begin(uint64_t seed, disk_fault fault, uint64_t at);
bool disk_has_struck(void);
bool disk_struck_journal(void); // at the file beside it, which holds nothing of the match
// What is left of `path` and its log and journal, into real files of these names.
void disk_leave(const char *path);
void disk_end(void);

#endif
