// A function for each finding. The bounds: a tick of 60 Hz is 16.7 ms; a batch of the recording is
// written each 100 ms and may not take as long; a token's times are of the wall clock.
#include "server/tools/doctor/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/transport/enet/net.h"
#include "server/node/worker.h"

#define MIB              (1024u * 1024u)
#define FILES_BASE       32u // sockets, signals, the catalogue, what libraries hold
#define FILES_ROOM       4u  // the match file, its WAL, and what a checkpoint opens
#define DISK_ERROR       (64ull * MIB)
#define DISK_WARNING     (1024ull * MIB)
#define DISK_FILES       1000u
#define FSYNC_POWER_MS   25.0 // each batch waits for one
#define FSYNC_PROCESS_MS 250.0
#define CLOCK_READ_NS    1000.0        // a few hundred readings a tick
#define UNIX_EARLIEST_S  1700000000ull // earlier than this program
#define MEMORY_WARNING   (256ull * MIB)

static void report(cm_finding *finding, cm_finding_level level, const char *mend,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

static void report(cm_finding *finding, cm_finding_level level, const char *mend,
                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->found, sizeof finding->found, format, arguments);
    va_end(arguments);
    finding->level = level;
    finding->mend = mend;
}

static void judge_buffer(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    (void)needs;
    bool good = m->receive_buffer >= CM_HOST_RECEIVE_BUFFER;
    report(f, good ? CM_FINDING_OK : CM_FINDING_WARNING, "sysctl -w net.core.rmem_max=4194304",
           "the kernel grants a socket %" PRIu64 " bytes for what comes%s", m->receive_buffer,
           good ? "" : ", expected 4194304: bursts are lost while a tick is made");
}

uint32_t cm_needs_files(uint32_t rooms)
{
    return FILES_BASE + FILES_ROOM * rooms;
}

static void judge_files(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    const char *mend = "LimitNOFILE=4096 in the unit, or ulimit -n 4096";
    uint32_t need = cm_needs_files(needs->rooms), most = cm_needs_files(CM_WORKER_ROOMS_MAX);
    if (m->files < need) {
        report(f, CM_FINDING_ERROR, mend,
               "%" PRIu64 " files may be open, expected %u for %u rooms to start", m->files,
               (unsigned)need, (unsigned)needs->rooms);
    } else if (m->files < most) {
        report(f, CM_FINDING_WARNING, mend,
               "%" PRIu64 " files may be open, expected %u for the %u rooms that a server may have",
               m->files, (unsigned)most, CM_WORKER_ROOMS_MAX);
    } else {
        report(f, CM_FINDING_OK, mend, "%" PRIu64 " files may be open", m->files);
    }
}

static void judge_disk(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    uint64_t mib = m->disk_free / MIB;
    if (!m->disk_known) {
        report(f, CM_FINDING_ERROR, "set matches to a directory that is there",
               "the file system of matches does not answer, expected one");
    } else if (m->disk_remote) {
        report(
            f, CM_FINDING_ERROR, "set matches to a local directory",
            "matches are on a file system of another machine, expected a local one: SQLite's WAL "
            "needs its locks and its shared memory");
    } else if (m->disk_free < DISK_ERROR || m->disk_free_files < DISK_FILES) {
        report(f, CM_FINDING_ERROR, "carom match prune, or a larger disk",
               "%" PRIu64 " MiB are free for matches, expected at least 1024, and %u files", mib,
               DISK_FILES);
    } else if (m->disk_free < DISK_WARNING) {
        report(f, CM_FINDING_WARNING, "carom match prune, or a larger disk",
               "%" PRIu64 " MiB are free for matches, expected at least 1024", mib);
    } else if (m->disk_volatile && needs->power) {
        report(f, CM_FINDING_WARNING, "set matches to a directory on a disk",
               "matches are in memory, expected a disk: durability is power");
    } else {
        report(f, CM_FINDING_OK, "", "%" PRIu64 " MiB are free for matches", mib);
    }
}

static void judge_fsync(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    double most = needs->power ? FSYNC_POWER_MS : FSYNC_PROCESS_MS;
    if (m->fsync_ms_median <= 0.0) {
        report(f, CM_FINDING_WARNING,
               "let the server write where matches are, on a disk with space",
               "not measured: no file could be written and synced where matches are, expected one");
    } else if (m->fsync_ms_median > most) {
        report(
            f, CM_FINDING_WARNING, "a disk with a write cache that outlives power, or an SSD",
            "%.2f ms for an fsync where matches are (the longest %.2f), expected at most %.0f with "
            "durability %s",
            m->fsync_ms_median, m->fsync_ms_max, most, needs->power ? "power" : "process");
    } else {
        report(f, CM_FINDING_OK, "", "%.2f ms for an fsync where matches are (the longest %.2f)",
               m->fsync_ms_median, m->fsync_ms_max);
    }
}

static bool is_slow_source(const char *name)
{
    return strcmp(name, "hpet") == 0 || strcmp(name, "acpi_pm") == 0 ||
           strcmp(name, "jiffies") == 0 || strcmp(name, "pit") == 0;
}

static void judge_clock(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    (void)needs;
    const char *source = m->clock_source[0] != '\0' ? m->clock_source : "of an unknown source";
    if (m->clock_backward > 0) {
        report(f, CM_FINDING_ERROR, "another clock source of the kernel, or another machine",
               "the monotonic clock (%s) went backward %u times, expected never", source,
               (unsigned)m->clock_backward);
    } else if (is_slow_source(source) || m->clock_read_ns > CLOCK_READ_NS) {
        report(f, CM_FINDING_WARNING,
               "a clock that is read without a system call: tsc, or the hypervisor's own",
               "a reading of the clock (%s) takes %.0f ns, expected less than %.0f and not hpet, "
               "acpi_pm or jiffies",
               source, m->clock_read_ns, CLOCK_READ_NS);
    } else {
        report(f, CM_FINDING_OK, "", "%s, %.0f ns a reading, no step back in 100000", source,
               m->clock_read_ns);
    }
}

static void judge_date(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    (void)needs;
    if (m->unix_s < UNIX_EARLIEST_S) {
        report(f, CM_FINDING_ERROR, "set the clock: timedatectl set-ntp true",
               "%" PRIu64 " s since 1970, expected a date of today: tokens expire by it",
               m->unix_s);
    } else if (m->clock_in_step == 0) {
        report(f, CM_FINDING_WARNING, "timedatectl set-ntp true, or chrony",
               "the wall clock is not kept in step with a time server, expected that it is: tokens "
               "expire by it");
    } else {
        report(f, CM_FINDING_OK, "", "the wall clock is %s",
               m->clock_in_step > 0 ? "in step with a time server" : "plausible");
    }
}

static void judge_cores(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    (void)needs;
    if (m->cores_quota > 0.0 && m->cores_quota < 2.0) {
        report(
            f, CM_FINDING_WARNING, "raise the quota of the control group to 2 or more, or lift it",
            "%u cores, of which the control group grants %.2f, expected 2: a group that spent its "
            "quota stands still for the rest of a period of some 100 ms",
            (unsigned)m->cores, m->cores_quota);
    } else if (m->cores < 2) {
        report(f, CM_FINDING_WARNING, "give the process another core",
               "%u core, expected 2: rooms and the writing of matches take turns",
               (unsigned)m->cores);
    } else {
        report(f, CM_FINDING_OK, "", "%u cores", (unsigned)m->cores);
    }
}

static void judge_memory(const cm_machine *m, const cm_needs *needs, cm_finding *f)
{
    (void)needs;
    uint64_t mib = m->memory_available / MIB;
    if (m->memory_available < MEMORY_WARNING) {
        report(f, CM_FINDING_WARNING,
               "fewer rooms (carom capacity says what one takes), more memory",
               "%" PRIu64 " MiB are available, expected at least 256", mib);
    } else if (m->swap_used > 0) {
        report(f, CM_FINDING_WARNING, "swapoff -a, or MemorySwapMax=0 in the unit",
               "%" PRIu64 " MiB are available, %" PRIu64
               " MiB are swapped out, expected none: a tick "
               "waits for the disk, and keys may come to lie there",
               mib, m->swap_used / MIB);
    } else {
        report(f, CM_FINDING_OK, "", "%" PRIu64 " MiB are available, nothing is swapped out", mib);
    }
}

void cm_machine_judge(const cm_machine *machine, const cm_needs *needs,
                      cm_finding findings[CM_MACHINE_FINDINGS])
{
    static const struct {
        const char *about;
        void (*judge)(const cm_machine *, const cm_needs *, cm_finding *);
    } judges[CM_MACHINE_FINDINGS] = {{"buffer", judge_buffer}, {"files", judge_files},
                                     {"disk", judge_disk},     {"fsync", judge_fsync},
                                     {"clock", judge_clock},   {"date", judge_date},
                                     {"cores", judge_cores},   {"memory", judge_memory}};
    for (uint32_t i = 0; i < CM_MACHINE_FINDINGS; i++) {
        memset(&findings[i], 0, sizeof findings[i]);
        findings[i].about = judges[i].about;
        judges[i].judge(machine, needs, &findings[i]);
    }
}

const char *cm_finding_level_name(cm_finding_level level)
{
    return level == CM_FINDING_OK ? "ok" : level == CM_FINDING_WARNING ? "warning" : "error";
}
