// `carom replay MATCH --verify`: one line of what was verified, or of what is wrong. Without
// --verify, see replay_export.h.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/record/replay/verifier_pool.h"
#include "server/cli/load.h"
#include "server/record/replay/replay.h"
#include "server/record/format/sign_key.h"
#include "server/cli/replay_export.h"

#define TICK_MAX    9007199254740992.0 // 2^53
#define MATCHES_MAX 1024u              // of a command line

#define BAR_WIDTH   40u

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

static const char *verdict_name(const cm_proof *proof)
{
    static const char *const names[] = {"unknown", "changed", "consistent", "authentic"};
    return names[proof->verdict];
}

static int print_json(const char *result, const cm_replay_report *report, int status)
{
    const cm_proof *proof = &report->proof;
    printf("{\"result\": \"%s\", \"verified_ticks\": %" PRIu64 ", \"hash\": \"%016" PRIx64
           "\", \"complete\": %s, \"proof\": \"%s\", \"signed\": %s, \"signed_tick\": %" PRIu64
           ", \"keyframes\": %u, \"personal_rows\": %u, \"erased_rows\": %u",
           result, report->verified_ticks, report->final_hash, report->complete ? "true" : "false",
           verdict_name(proof), proof->is_signed ? "true" : "false", proof->signed_tick,
           report->keyframes, proof->personal, proof->erased);
    if (report->other_module_file) {
        printf(", \"other_module_file\": true");
    }
    if (report->parent != 0) {
        printf(", \"goes_on_from\": \"%016" PRIx64 "\", \"gap_from\": %" PRIu64
               ", \"gap_to\": %" PRIu64,
               report->parent, report->gap_from, report->gap_to);
    }
    if (!report->complete) {
        printf(", \"cut_at_tick\": %" PRIu64, proof->ticks);
    }
    if (proof->verdict == CM_PROOF_CHANGED) {
        printf(", \"changed\": \"%s\"", proof->changed);
    }
    if (report->diverged) {
        printf(", \"diverged_tick\": %" PRIu64 ", \"recorded_hash\": \"%016" PRIx64
               "\", \"replayed_hash\": \"%016" PRIx64 "\", \"difference\": \"%s\"",
               report->diverged_tick, report->recorded_hash, report->replayed_hash,
               report->difference);
    }
    printf("}\n");
    return cm_cli_finish(status);
}

// Prints the properties that the verdict does not prove.
static void print_bounds(const cm_proof *proof)
{
    if (proof->verdict != CM_PROOF_AUTHENTIC) {
        printf("not proved: who recorded it%s\n",
               proof->is_signed ? " (it is signed: --pubkey FILE asks whether by that key)"
                                : " (unsigned: whoever holds the file can make the chain again)");
    }
    if (proof->erased > 0) {
        printf("not proved: %u of %u personal texts, which were erased\n", proof->erased,
               proof->personal);
    }
}

static int print_text(const cm_replay_report *report)
{
    const cm_proof *proof = &report->proof;
    printf("verified %" PRIu64 " ticks, hash %016" PRIx64 ", %s", report->verified_ticks,
           report->final_hash, verdict_name(proof));
    if (proof->verdict == CM_PROOF_CONSISTENT && proof->key_is_theirs) {
        printf(", signed up to tick %" PRIu64, proof->signed_tick);
    }
    if (report->complete) {
        printf(", complete\n");
    } else {
        printf(", cut at tick %" PRIu64 ": no end was recorded\n", proof->ticks);
    }
    if (report->other_module_file) {
        printf("the module is of the recorded source, but not the very file that the server had\n");
    }
    if (report->parent != 0) {
        printf("it goes on from match %016" PRIx64 ": of ticks %" PRIu64 " to %" PRIu64
               " nothing is kept but the state at the end, with which this file begins\n",
               report->parent, report->gap_from, report->gap_to);
    }
    print_bounds(proof);
    return CM_STATUS_DONE;
}

// A match whose replay agrees may still have been changed, or lack the required signature.
static int print_proof(const char *path, const cm_replay_report *report, bool json)
{
    const cm_proof *proof = &report->proof;
    bool good = proof->verdict == (proof->has_key ? CM_PROOF_AUTHENTIC : CM_PROOF_CONSISTENT);
    int status = good ? CM_STATUS_DONE : CM_STATUS_FAILED;
    if (proof->verdict == CM_PROOF_CHANGED) {
        cm_cli_error("%s: changed since it was recorded: %s", path, proof->changed);
    } else if (!good) {
        cm_cli_error("%s: not authentic: %s", path,
                     !proof->is_signed       ? "it is not signed"
                     : !proof->key_is_theirs ? "it is signed by another key"
                                             : "only a part of it is signed");
    }
    if (json) {
        const char *result = proof->verdict == CM_PROOF_CHANGED ? "changed"
                             : good                             ? "verified"
                                                                : "not authentic";
        return print_json(result, report, status);
    }
    if (proof->verdict != CM_PROOF_CHANGED) {
        print_text(report);
    }
    return cm_cli_finish(status);
}

// A bar, on a terminal; drawn where it is another one than before.
static bool show_progress(void *context, uint64_t tick, uint64_t last)
{
    uint32_t *drawn = context;
    uint32_t share = last > 0 ? (uint32_t)(tick * 100 / last) : 100;
    if (share != *drawn) {
        char bar[BAR_WIDTH + 1];
        memset(bar, ' ', BAR_WIDTH);
        memset(bar, '#', share * BAR_WIDTH / 100);
        bar[BAR_WIDTH] = '\0';
        fprintf(stderr, "\r[%s] %3u%%  tick %" PRIu64 " of %" PRIu64, bar, share, tick, last);
        *drawn = share;
    }
    return true;
}

static int verify(const char *path, cm_replay_options *options, bool json)
{
    cm_replay_report report;
    uint32_t drawn = UINT32_MAX;
    const char *states = options->states;
    bool terminal = isatty(STDERR_FILENO) != 0;
    options->progress = terminal ? show_progress : NULL;
    options->context = &drawn;
    carom_result result = cm_replay_verify(path, options, &report);
    if (terminal) {
        fprintf(stderr, "\r\033[K");
    }
    if (result == CAROM_OK) {
        return print_proof(path, &report, json);
    }
    if (report.diverged) {
        cm_cli_error("%s: diverged at tick %" PRIu64 ": recorded hash %016" PRIx64
                     ", replayed hash %016" PRIx64 "%s%s%s%s",
                     path, report.diverged_tick, report.recorded_hash, report.replayed_hash,
                     report.difference[0] != '\0' ? "; " : "", report.difference,
                     report.proof.verdict == CM_PROOF_CHANGED ? "; changed since it was recorded: "
                                                              : "",
                     report.proof.changed);
        if (states != NULL && !report.states_written) {
            cm_cli_error("%s: the states could not be written there, or no later keyframe shows "
                         "them",
                         states);
        }
        return json ? print_json("diverged", &report, CM_STATUS_FAILED) : CM_STATUS_FAILED;
    }
    cm_cli_error("%s: %s", path,
                 report.error.message[0] != '\0' ? report.error.message
                                                 : carom_result_text(result));
    return status_of(result, path);
}

// One file after another; the status of the worst.
static int verify_all(const char *const *paths, uint32_t count, cm_replay_options *options,
                      bool json)
{
    int worst = CM_STATUS_DONE;
    for (uint32_t i = 0; i < count; i++) {
        if (count > 1 && !json) {
            printf("%s: ", paths[i]);
            fflush(stdout);
        }
        int status = verify(paths[i], options, json);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static int run_command(int argc, char **argv)
{
    bool verifying = false, has_format = false;
    const char *format = "text", *paths[MATCHES_MAX], *key_path = NULL, *states = NULL;
    uint32_t count = 0;
    cm_replay_export_options e = {.every = 1, .speed = 1.0};
    int64_t jobs = 0;
    cm_option_texts modules = {.count = 0};
    const cm_option options[] = {
        {.name = "module", .kind = CM_OPTION_TEXTS, .value = &modules},
        {.name = "verify", .kind = CM_OPTION_FLAG, .value = &verifying},
        {.name = "pubkey", .kind = CM_OPTION_TEXT, .value = &key_path},
        {.name = "jobs",
         .kind = CM_OPTION_INT,
         .value = &jobs,
         .low = 1,
         .high = CM_VERIFIER_POOL_JOBS_MAX},
        {.name = "states", .kind = CM_OPTION_TEXT, .value = &states},
        {"format", CM_OPTION_CHOICE, &format, 0, 0, "text|json", &has_format},
        {"export", CM_OPTION_CHOICE, &e.form, 0, 0, "jsonl|csv|sqlite|gltf", NULL},
        {"out", CM_OPTION_TEXT, &e.out, 0, 0, NULL, NULL},
        {"seek", CM_OPTION_INT, &e.seek, 0, TICK_MAX, NULL, &e.has_seek},
        {"from", CM_OPTION_INT, &e.from, 0, TICK_MAX, NULL, &e.has_from},
        {"to", CM_OPTION_INT, &e.to, 0, TICK_MAX, NULL, &e.has_to},
        {"every", CM_OPTION_INT, &e.every, 1, TICK_MAX, NULL, &e.has_every},
        {"speed", CM_OPTION_NUMBER, &e.speed, 1e-3, 1e6, NULL, &e.has_speed},
        {"events", CM_OPTION_FLAG, &e.events, 0, 0, NULL, NULL},
    };
    int status = cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], paths,
                                MATCHES_MAX, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count == 0 || (count > 1 && (!verifying || states != NULL))) {
        return cm_cli_usage(
            "replay: expected one match file (--verify takes several, --states does not), "
            "see 'carom help replay'");
    }
    if (verifying && cm_replay_export_asked(&e)) {
        return cm_cli_usage(
            "replay: --verify says whether the whole match is as recorded, and takes none "
            "of --export, --out, --seek, --from, --to, --every, --speed, --events");
    }
    if (!verifying && (key_path != NULL || states != NULL || has_format || jobs > 0)) {
        return cm_cli_usage("replay: --jobs, --pubkey, --states and --format: only with --verify");
    }
    if (!verifying && e.form == NULL && !e.has_seek && !e.has_speed) {
        return cm_cli_usage(
            "replay: expected --verify, --export, --seek or --speed, see 'carom help "
            "replay'");
    }
    status = cm_cli_load_modules(&modules);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (!verifying) {
        return cm_replay_export(paths[0], &e);
    }
    uint8_t public_key[CM_SIGN_KEY_BYTES];
    char error[512];
    if (key_path != NULL &&
        cm_public_key_read(key_path, public_key, error, sizeof error) != CAROM_OK) {
        return cm_cli_usage("%s", error);
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cm_replay_options how = {.public_key = key_path != NULL ? public_key : NULL,
                             .states = states,
                             .jobs = jobs > 0 ? (uint32_t)jobs : (uint32_t)(cores > 1 ? cores : 1)};
    return verify_all(paths, count, &how, strcmp(format, "json") == 0);
}

const cm_command cm_replay_command = {
    "replay", run_command,
    "runs a recorded match again\n"
    "usage: carom replay MATCH... --verify [--jobs N] [--module FILE.so] [--pubkey FILE]\n"
    "                    [--states PREFIX] [--format text|json]\n"
    "       carom replay MATCH --export jsonl|csv|sqlite|gltf [--out FILE] [--from TICK]\n"
    "                    [--to TICK] [--every K] [--speed X] [--events] [--module FILE.so]\n"
    "       carom replay MATCH --seek TICK [--speed X] [--export FORMAT] [...]\n"
    "       carom replay MATCH --speed X [--from TICK] [--to TICK] [...]\n"
    "\n"
    "With --verify:\n"
    "  --verify   makes the file's hash chain again, re-simulates, and compares the hash of every\n"
    "             tick and every keyframe. 'consistent': rows, chain and simulation agree; "
    "whoever\n"
    "             holds an unsigned file can make a chain again. Status 0 where all agree, 1 "
    "where\n"
    "             something differs, 2 where another engine or format recorded it, or it cannot\n"
    "             be read. What no row holds, such as free bytes of a page, may change unseen\n"
    "  --jobs     threads, 1 to 64, which take the match from keyframe to keyframe (as many as\n"
    "             there are cores); the result is the same with any number\n"
    "  --pubkey   public key (what 'carom match keygen' makes, or 64 hexadecimal digits):\n"
    "             'authentic' where the whole match is signed by it, else status 1\n"
    "  --module   the game module that the match was played with, where it is not built in\n"
    "  --states   where the match diverged: the recorded and the replayed state at the next\n"
    "             keyframe, encoded, as PREFIX.recorded and PREFIX.replayed\n"
    "  --format   text (default), or json: one object\n"
    "Without, the match is played again and its states are given out; every tick's hash is\n"
    "compared with the recorded one (status 1 where one differs). Where another engine version\n"
    "recorded it, jsonl and csv give its keyframes alone. One of --export, --seek and --speed\n"
    "says that this is wanted:\n"
    "  --export   jsonl (what it is without) and csv: the lines of 'carom sim'; sqlite: inputs,\n"
    "             tracks of bodies, events and players as plain tables, which EXPORT_FILE.md\n"
    "             explains; gltf: one binary file (.glb) with all bodies and an animation,\n"
    "             whose tracks are in a file without a name beside it until it is whole\n"
    "  --out      file to be made (jsonl, csv: else standard output); one that is there already "
    "is\n"
    "             refused\n"
    "  --seek     the state after one tick, from the keyframe before it; with --speed, from there\n"
    "             on. Not with --from and --to\n"
    "  --from, --to   first and last tick (0, the end)\n"
    "  --every    a line, or a row of each body, every K ticks (1); events are of all ticks\n"
    "  --speed    lines come at X times the speed of the match (else at once)\n"
    "  --events   jsonl: contacts that began or ended, hits, breaks of joints, sleep\n",
    NULL};
