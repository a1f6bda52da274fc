// Goal: whatever a server says, the SDK's client ends with a reason or goes on, in bounded memory
// and time. Method: hostile.h; so many changed messages in sessions of a fixed size, each from its
// seed, in both sync modes, with a pointer, and in a room whose keyframe is large.
//
//   hostile [--first SESSION] [--sessions N] [--each CHANGES]
//
// A kind of change, or a message type, that was never tried is a failure. Status 0 or 1; 2 for bad
// usage.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hostile/hostile.h"

static const char *const kinds[HOSTILE_KINDS] = {
    "view bytes", "view fields", "relays",  "message bytes", "message fields",
    "welcomes",   "confirmed",   "replays", "datagrams",     "handshakes"};

static bool parse(int argc, char **argv, uint64_t *first, uint64_t *sessions, uint64_t *each)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t *number = strcmp(argv[i], "--first") == 0      ? first
                           : strcmp(argv[i], "--sessions") == 0 ? sessions
                           : strcmp(argv[i], "--each") == 0     ? each
                                                                : NULL;
        char *end;
        if (number == NULL) {
            return false;
        }
        *number = strtoull(argv[i + 1], &end, 10);
        if (*end != '\0' || *number == 0) {
            return false;
        }
    }
    return argc % 2 == 1;
}

static bool is_missing(const char *name, uint64_t count)
{
    if (count == 0) {
        printf("hostile: FAILED: no %s: they were not tried\n", name);
    }
    return count == 0;
}

static bool print(const hostile_counts *c)
{
    bool missing = false;
    uint64_t sum = 0, ends = 0;
    printf("hostile:");
    for (uint32_t i = 0; i < HOSTILE_KINDS; i++) {
        printf(" %s %" PRIu64 ",", kinds[i], c->done[i]);
        sum += c->done[i];
    }
    printf(" in all %" PRIu64 "\nhostile: by type:", sum);
    for (uint32_t i = 2; i < HOSTILE_CONTROLS; i++) {
        printf(" %" PRIu64, c->controls[i]);
    }
    printf("\nhostile: ended:");
    for (uint32_t i = 0; i < CAROM_REASON_COUNT; i++) {
        if (c->ended[i] > 0) {
            printf(" %" PRIu64 " %s,", c->ended[i], carom_reason_text((carom_reason)i));
            ends += c->ended[i];
        }
    }
    printf("\nhostile: %" PRIu64 " joins, %" PRIu64 " comebacks, %" PRIu64 " epochs, %" PRIu64
           " views, %" PRIu64 " refused, %" PRIu64 " divergences, %" PRIu64
           " steps; %.1f MB, an update at most %.0f ms of processor\n",
           c->joins, c->comebacks, c->epochs, c->views, c->refused, c->desyncs, c->steps,
           1e-6 * (double)c->memory_max, 1e-3 * (double)c->update_us_max);
    for (uint32_t i = 0; i < HOSTILE_KINDS; i++) {
        missing = is_missing(kinds[i], c->done[i]) || missing;
    }
    for (uint32_t i = 2; i < HOSTILE_CONTROLS; i++) {
        bool client_only = i == CM_CONTROL_ROOMS_ASK;
        missing = (!client_only && is_missing("message of a type", c->controls[i])) || missing;
    }
    missing = is_missing("joins", c->joins) || is_missing("comebacks", c->comebacks) || missing;
    missing = is_missing("epochs", c->epochs) || is_missing("refusals", c->refused) || missing;
    return !missing && ends > 0;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, sessions = 8, each = 250, failed = 0;
    hostile_counts counts = {{0}};
    if (!parse(argc, argv, &first, &sessions, &each)) {
        fputs("hostile: expected [--first SESSION] [--sessions N] [--each CHANGES]\n", stderr);
        return 2;
    }
    for (uint64_t seed = first; seed < first + sessions; seed++) {
        char what[256] = "";
        fprintf(stderr, "hostile: session %" PRIu64 "\n", seed); // the last one, where it dies
        hostile_session(seed, each, &counts, what);
        if (what[0] != '\0') {
            printf("hostile: FAILED session %" PRIu64 ": %s\n", seed, what);
            failed++;
        }
    }
    failed += !print(&counts) && sessions >= 8;
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", sessions - failed, failed);
    return failed == 0 ? 0 : 1;
}
