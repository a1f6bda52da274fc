// The end of a host: what is left is written, each recording is closed and replayed, and the last
// words say how it went.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/record/replay/replay.h"
#include "server/node/node.h"

#define WRITE_WAIT_MS 5u

static void print_end(const cm_node *host, const cm_node_room *room, const cm_match_status *match,
                      const cm_replay_report *report, bool verified, const char *outcome)
{
    char text[4 * CM_SERVE_PATH_MAX + 256], command[2 * CM_SERVE_PATH_MAX + 256];
    cm_line line;
    const char *modules = host->config.module;
    snprintf(command, sizeof command, "%s replay %s --verify%s%s", program_invocation_name,
             room->path, modules[0] != '\0' ? " --module " : "", modules);
    if (host->shell.draw != NULL) {
        snprintf(text, sizeof text, "recorded  %s\nverified  %llu of %llu ticks: %s\nreplay    %s",
                 room->path, (unsigned long long)report->verified_ticks,
                 (unsigned long long)match->committed_tick, outcome, command);
        host->shell.print(host->shell.user, text);
        return;
    }
    cm_line_begin(&line);
    cm_line_put(&line, CM_T("room", room->spec.name), CM_T("match", room->path),
                CM_T("outcome", outcome), CM_B("verified", verified),
                CM_U("verified_ticks", report->verified_ticks),
                CM_U("ticks", match->committed_tick), CM_U("bytes", match->bytes),
                CM_X("final_hash", report->final_hash), CM_B("durable", match->durable),
                CM_T("replay", command));
    host->shell.print(host->shell.user, cm_line_end(&line));
}

// Until all is written, or the shell loses its patience: a disk may take for ever.
static void write_out(cm_node *host)
{
    cm_store_pump(host->store);
    for (uint32_t i = 0; i < host->rooms.count + host->rooms.closing_count; i++) {
        const cm_node_room *room = i < host->rooms.count
                                       ? &host->rooms.rooms[i]
                                       : &host->rooms.closing[i - host->rooms.count];
        cm_match_status match;
        cm_store_status(host->store, room->match, &match);
        while (match.queued_bytes > 0) {
            host->shell.wait(host->shell.user, WRITE_WAIT_MS);
            cm_store_status(host->store, room->match, &match);
        }
    }
    cm_store_flush(host->store);
}

static bool goes_on(void *context, uint64_t tick, uint64_t last)
{
    (void)tick;
    (void)last;
    cm_node *host = context;
    host->shell.wait(host->shell.user, 0);
    return cm_now_us() < host->deadline_us;
}

// Replays a closed recording, for as long as the configuration allows.
static void say_error(const cm_node *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say_error(const cm_node *host, const char *format, ...)
{
    char text[CM_FAILURE_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    host->shell.error(host->shell.user, text);
}

static carom_result verify_room(cm_node *host, const cm_node_room *room, cm_match_status *match)
{
    struct stat file;
    if (stat(room->path, &file) == 0) {
        match->bytes = (uint64_t)file.st_size;
    }
    cm_replay_report report;
    memset(&report, 0, sizeof report);
    const char *outcome = "not verified, drain_verify_s is 0";
    bool verified = false;
    carom_result result = CAROM_OK;
    if (host->config.drain_verify_s > 0) {
        cm_replay_options options = {.progress = goes_on, .context = host};
        result = cm_replay_verify(room->path, &options, &report);
        if (result == CAROM_OK && report.proof.verdict == CM_PROOF_CHANGED) {
            result = CAROM_ERROR_CORRUPT; // the disk gave back something else
            snprintf(report.error.message, sizeof report.error.message, "%s", report.proof.changed);
        }
        verified = result == CAROM_OK && report.verified_ticks >= match->committed_tick;
        outcome = verified             ? "the same hash at every tick"
                  : result == CAROM_OK ? "not finished within drain_verify_s"
                                       : carom_result_text(result);
    }
    print_end(host, room, match, &report, verified, outcome);
    bool whole = match->durable && result == CAROM_OK;
    cm_log_say(&host->log, whole ? CM_LOG_INFO : CM_LOG_ERROR, "stop",
               CM_T("room", room->spec.name), CM_T("match", room->path),
               CM_U("ticks", match->committed_tick), CM_U("verified_ticks", report.verified_ticks),
               CM_T("outcome", outcome));
    if (result != CAROM_OK) {
        say_error(host, "%s: %s%s%s", room->path, carom_result_text(result),
                  report.error.message[0] != '\0' ? ": " : "", report.error.message);
        return CAROM_ERROR_IO;
    }
    if (!match->durable) {
        say_error(host, "%s: not durable: %s", room->path, match->error);
        return CAROM_ERROR_IO;
    }
    if (host->config.drain_verify_s > 0 && !verified) {
        say_error(host, "%s: %" PRIu64 " of %" PRIu64 " ticks were verified within drain_verify_s",
                  room->path, report.verified_ticks, match->committed_tick);
        return CAROM_ERROR_IO;
    }
    return CAROM_OK;
}

// Closes the recordings and verifies them.
carom_result cm_node_finish(cm_node *host)
{
    static cm_match_status matches[CM_WORKER_ROOMS_MAX];
    carom_result result = CAROM_OK;
    write_out(host);
    cm_node_watch(host);
    if (host->shell.draw != NULL) {
        cm_node_status(host); // of all that is recorded
    }
    for (uint32_t i = 0; i < host->rooms.count; i++) {
        cm_store_status(host->store, host->rooms.rooms[i].match, &matches[i]);
        cm_node_log_unindexed(host, &host->rooms.rooms[i], &matches[i]);
    }
    cm_worker_destroy(host->worker);
    host->worker = NULL;
    cm_store_destroy(host->store);
    host->store = NULL;
    host->deadline_us = cm_now_us() + (uint64_t)host->config.drain_verify_s * 1000000u;
    for (uint32_t i = 0; i < host->rooms.count; i++) {
        carom_result one = verify_room(host, &host->rooms.rooms[i], &matches[i]);
        result = one != CAROM_OK ? one : result;
        if (matches[i].unindexed[0] != '\0') {
            say_error(host, "%s: not in the index: %s", host->rooms.rooms[i].path,
                      matches[i].unindexed);
            result = CAROM_ERROR_IO;
        }
    }
    if (host->lost > 0) {
        say_error(host,
                  "serve: %u recordings are not whole: their rooms were closed, or they went on in "
                  "another file, see the log",
                  host->lost);
        result = CAROM_ERROR_IO;
    }
    return result;
}
