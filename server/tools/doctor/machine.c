// Each measurement is its own function, and leaves 0 where the machine does not say. All together
// some 100 ms on a disk, most of them the fsyncs.
#include "server/tools/doctor/machine.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "server/transport/enet/net.h"
#include "server/tools/bench/samples.h"

#define FSYNCS      16u
#define PAGE_BYTES  4096u
#define CLOCK_READS 100000u
#define TEXT_MAX    256
#define PATH_BYTES  512

// Magic numbers of statfs(2).
#define MAGIC_NFS   0x6969
#define MAGIC_SMB   0x517b
#define MAGIC_CIFS  0xff534d42
#define MAGIC_SMB2  0xfe534d42
#define MAGIC_9P    0x01021997
#define MAGIC_TMPFS 0x01021994
#define MAGIC_RAMFS 0x858458f6

// The first line of a file of the kernel's; false where it is not there.
static bool read_line(const char *path, char text[TEXT_MAX])
{
    FILE *file = fopen(path, "re");
    bool got = file != NULL && fgets(text, TEXT_MAX, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    if (got) {
        text[strcspn(text, "\n")] = '\0';
    }
    return got;
}

// The kernel reports twice the size that it grants: it includes its own bookkeeping.
static void measure_buffer(cm_machine *m)
{
    int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) {
        return;
    }
    int bytes = CM_HOST_RECEIVE_BUFFER;
    socklen_t size = sizeof bytes;
    (void)setsockopt(file, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (getsockopt(file, SOL_SOCKET, SO_RCVBUF, &bytes, &size) == 0 && bytes > 0) {
        m->receive_buffer = (uint64_t)bytes / 2;
    }
    close(file);
}

static void measure_files(cm_machine *m)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        m->files = limit.rlim_cur == RLIM_INFINITY ? UINT32_MAX : (uint64_t)limit.rlim_cur;
    }
}

static void measure_space(const char *directory, cm_machine *m)
{
    struct statfs found;
    if (statfs(directory, &found) != 0) {
        return;
    }
    uint32_t magic = (uint32_t)found.f_type;
    m->disk_known = true;
    m->disk_remote = magic == MAGIC_NFS || magic == MAGIC_SMB || magic == MAGIC_CIFS ||
                     magic == MAGIC_SMB2 || magic == MAGIC_9P;
    m->disk_volatile = magic == MAGIC_TMPFS || magic == MAGIC_RAMFS;
    m->disk_free = (uint64_t)found.f_bavail * (uint64_t)found.f_bsize;
    m->disk_free_files = found.f_files > 0 ? (uint64_t)found.f_ffree : UINT64_MAX;
}

// The file has no name any more while it is written: whatever ends us, nothing stays.
static void measure_fsync(const char *directory, cm_machine *m)
{
    char path[PATH_BYTES];
    static const uint8_t page[PAGE_BYTES] = {1};
    snprintf(path, sizeof path, "%s/carom-doctor-XXXXXX", directory);
    int file = mkstemp(path);
    if (file < 0) {
        return;
    }
    unlink(path);
    double times[FSYNCS];
    uint32_t count = 0;
    while (count < FSYNCS) {
        double from = cm_bench_wall_ms();
        if (write(file, page, sizeof page) != (ssize_t)sizeof page || fsync(file) != 0) {
            break;
        }
        times[count++] = cm_bench_wall_ms() - from;
    }
    close(file);
    if (count == FSYNCS) {
        cm_samples_summary summary;
        cm_samples_summarise(times, count, &summary);
        m->fsync_ms_median = summary.median;
        m->fsync_ms_max = times[count - 1];
    }
}

static uint64_t read_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void measure_clock(cm_machine *m)
{
    char text[TEXT_MAX];
    if (read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", text)) {
        snprintf(m->clock_source, sizeof m->clock_source, "%.31s", text);
    }
    uint64_t first = read_ns(), last = first;
    double from = cm_bench_thread_ms();
    for (uint32_t i = 0; i < CLOCK_READS; i++) {
        uint64_t now = read_ns();
        m->clock_backward += now < last;
        last = now;
    }
    m->clock_read_ns = 1e6 * (cm_bench_thread_ms() - from) / CLOCK_READS;
    struct timex timex = {.modes = 0}; // only asks
    int state = adjtimex(&timex);
    m->clock_in_step = state < 0 ? -1 : (timex.status & STA_UNSYNC) == 0;
    m->unix_s = (uint64_t)time(NULL);
}

// A quota of the control group, version 2: "QUOTA PERIOD", or "max PERIOD".
static void measure_cores(cm_machine *m)
{
    cpu_set_t set;
    char text[TEXT_MAX];
    double quota, period;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        m->cores = (uint32_t)CPU_COUNT(&set);
    }
    if (read_line("/sys/fs/cgroup/cpu.max", text) &&
        sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0.0) {
        m->cores_quota = quota / period;
    }
}

static void measure_memory(cm_machine *m)
{
    char line[TEXT_MAX], name[64];
    unsigned long long kib, swap = 0, swap_free = 0, limit = 0, used = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%63[^:]: %llu", name, &kib) != 2) {
            continue;
        }
        m->memory_available = strcmp(name, "MemAvailable") == 0 ? kib * 1024 : m->memory_available;
        swap = strcmp(name, "SwapTotal") == 0 ? kib : swap;
        swap_free = strcmp(name, "SwapFree") == 0 ? kib : swap_free;
    }
    if (file != NULL) {
        fclose(file);
    }
    m->swap_used = (uint64_t)(swap - swap_free) * 1024;
    if (read_line("/sys/fs/cgroup/memory.max", line) && sscanf(line, "%llu", &limit) == 1 &&
        read_line("/sys/fs/cgroup/memory.current", line) && sscanf(line, "%llu", &used) == 1) {
        uint64_t left = limit > used ? limit - used : 1;
        m->memory_available = left < m->memory_available ? left : m->memory_available;
    }
}

void cm_machine_measure_size(cm_machine *machine)
{
    memset(machine, 0, sizeof *machine);
    measure_cores(machine);
    measure_memory(machine);
}

void cm_machine_measure(const char *directory, cm_machine *machine)
{
    const char *place = directory[0] != '\0' ? directory : ".";
    cm_machine_measure_size(machine);
    measure_buffer(machine);
    measure_files(machine);
    measure_space(place, machine);
    measure_fsync(place, machine);
    measure_clock(machine);
}
