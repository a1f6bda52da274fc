// Measures the properties of the machine that a server needs. It closes and removes everything that
// it opens or makes. Linux.
#ifndef CM_SERVER_TOOLS_DOCTOR_MACHINE_H
#define CM_SERVER_TOOLS_DOCTOR_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

// Each is 0 if it could not be measured, unless noted.
typedef struct cm_machine {
    uint64_t receive_buffer; // bytes that the kernel grants of CM_HOST_RECEIVE_BUFFER
    uint64_t files;          // descriptors that a process may open
    bool disk_known;         // of the file system of the match files:
    bool disk_remote, disk_volatile;
    uint64_t disk_free, disk_free_files;  // bytes; files, UINT64_MAX where it has no limit
    double fsync_ms_median, fsync_ms_max; // of a page at the end of a file
    char clock_source[32];
    double clock_read_ns;    // a reading of the monotonic clock
    uint32_t clock_backward; // readings that were before the one before
    int clock_in_step;       // with a time server: 1 yes, 0 no, -1 not known
    uint64_t unix_s;
    uint32_t cores;     // that this process may use
    double cores_quota; // of its control group; 0: none
    uint64_t memory_available, swap_used;
} cm_machine;

// `directory`: one that exists, in whose file system match files will be; "" is the working
// directory.
void cm_machine_measure(const char *directory, cm_machine *machine);
// The cores and memory alone.
void cm_machine_measure_size(cm_machine *machine);

#endif
