// `carom replay MATCH --verify`: one line of what was verified, or of what is wrong.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/tools/cli/cli.h"
#include "server/record/replay.h"

// A file that is not there is bad input; one whose reading fails is a failed operation.
static int status_of(carom_result result, const char *path)
{
    switch (result) {
    case CAROM_OK:
        return CM_STATUS_DONE;
    case CAROM_ERROR_DIVERGED:
    case CAROM_ERROR_MEMORY:
        return CM_STATUS_FAILED;
    case CAROM_ERROR_IO:
        return access(path, R_OK) == 0 ? CM_STATUS_FAILED : CM_STATUS_USAGE;
    default:
        return CM_STATUS_USAGE;
    }
}

static int print_json(const char *result, const cm_replay_report *report)
{
    printf("{\"result\": \"%s\", \"verified_ticks\": %" PRIu64 ", \"hash\": \"%016" PRIx64
           "\", \"complete\": %s",
           result, report->verified_ticks, report->final_hash, report->complete ? "true" : "false");
    if (report->diverged) {
        printf(", \"diverged_tick\": %" PRIu64 ", \"recorded_hash\": \"%016" PRIx64
               "\", \"replayed_hash\": \"%016" PRIx64 "\", \"difference\": \"%s\"",
               report->diverged_tick, report->recorded_hash, report->replayed_hash,
               report->difference);
    }
    printf("}\n");
    return cm_cli_finish(report->diverged ? CM_STATUS_FAILED : CM_STATUS_DONE);
}

static int verify(const char *path, bool json)
{
    cm_replay_report report;
    carom_result result = cm_replay_verify(path, NULL, NULL, &report);
    if (result == CAROM_OK) {
        if (json) {
            return print_json("verified", &report);
        }
        printf("verified %" PRIu64 " ticks, hash %016" PRIx64 ", %s\n", report.verified_ticks,
               report.final_hash, report.complete ? "complete" : "no end recorded");
        return cm_cli_finish(CM_STATUS_DONE);
    }
    if (report.diverged) {
        cm_cli_error("%s: diverged at tick %" PRIu64 ": recorded hash %016" PRIx64
                     ", replayed hash %016" PRIx64 "%s%s",
                     path, report.diverged_tick, report.recorded_hash, report.replayed_hash,
                     report.difference[0] != '\0' ? "; " : "", report.difference);
        return json ? print_json("diverged", &report) : CM_STATUS_FAILED;
    }
    cm_cli_error("%s: %s", path,
                 report.error.message[0] != '\0' ? report.error.message
                                                 : carom_result_text(result));
    return status_of(result, path);
}

static int run_command(int argc, char **argv)
{
    bool verifying = false, seek = false, speed = false, export = false;
    const char *format = "text", *ignored = NULL, *path = NULL;
    uint32_t count = 0;
    const cm_option options[] = {
        {.name = "verify", .kind = CM_OPTION_FLAG, .value = &verifying},
        {.name = "format", .kind = CM_OPTION_CHOICE, .value = &format, .choices = "text|json"},
        {.name = "seek", .kind = CM_OPTION_TEXT, .value = &ignored, .given = &seek},
        {.name = "speed", .kind = CM_OPTION_TEXT, .value = &ignored, .given = &speed},
        {.name = "export", .kind = CM_OPTION_TEXT, .value = &ignored, .given = &export},
    };
    int status =
        cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], &path, 1, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count != 1) {
        cm_cli_error("replay: expected one match file, see 'carom help replay'");
        return CM_STATUS_USAGE;
    }
    if (seek || speed || export) {
        cm_cli_error("replay: --%s: not built yet", seek ? "seek" : speed ? "speed" : "export");
        return CM_STATUS_USAGE;
    }
    if (!verifying) {
        cm_cli_error("replay: only --verify is built yet; 'carom match info %s' says what it holds",
                     path);
        return CM_STATUS_USAGE;
    }
    return verify(path, strcmp(format, "json") == 0);
}

const cm_command cm_replay_command = {
    "replay", run_command,
    "runs a recorded match again\n"
    "usage: carom replay MATCH --verify\n"
    "\n"
    "  --verify   re-simulates and compares the hash of every tick: status 0 where all agree,\n"
    "             1 where one differs, 2 where the file was recorded by another engine version\n",
    NULL};
