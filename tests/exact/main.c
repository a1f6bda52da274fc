// Goal: with exact sync no client ever differs from the server by a bit, over very many ticks, and
// one that does is named and healed. Method: exact.h. A count of zero is a failure, and so is one
// below what the number of ticks asks for.
//
//   exact [--ticks N] [--seed N] [GAME ...]    crowd, ball and race
//
// Status 0 or 1; 2 for bad usage.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/feel/games.h"
#include "tests/exact/exact.h"

// What a million ticks have at the least.
#define MILLION  1000000u
#define REWINDS  100000u
#define CONTACTS 1000000u
#define JOINS    100u
#define RESUMES  20u

static bool is_below(const char *game, const char *name, uint64_t count, uint64_t least)
{
    least = least > 0 ? least : 1;
    if (count < least) {
        printf("exact: %s: FAILED: %" PRIu64 " %s, at least %" PRIu64 "\n", game, count, name,
               least);
    }
    return count < least;
}

static bool run(const char *game, uint64_t seed, uint64_t ticks)
{
    exact_result r;
    exact_run(game, seed, ticks, &r);
    printf("exact: %s, seed %" PRIu64 ": %" PRIu64 " ticks confirmed by clients, %" PRIu64
           " of the room; %" PRIu64 " corrections of clients, %" PRIu64
           " rewinds of the room (%" PRIu64 " ticks), %" PRIu64 " contacts, %" PRIu64
           " joins (%" PRIu64 " times the room was full), %" PRIu64 " leaves, %" PRIu64
           " comebacks, %" PRIu64 " resumes (%" PRIu64 " ticks taken back), %" PRIu64
           " divergences planted, %" PRIu64 " healed after at most %" PRIu64 " ms, %" PRIu64
           " named, %" PRIu64 " by the body itself\n",
           game, seed, r.confirmed, r.room_ticks, r.client_rewinds, r.rewinds, r.rewound_ticks,
           r.contacts, r.joins, r.refused, r.leaves, r.comebacks, r.resumes, r.taken_back,
           r.planted, r.healed, r.healed_ms_max, r.named, r.named_first);
    if (r.what[0] != '\0') {
        printf("exact: %s: FAILED: %s\n", game, r.what);
        return false;
    }
    bool low = is_below(game, "corrections and rewinds", r.client_rewinds + r.rewinds,
                        ticks * REWINDS / MILLION);
    low = is_below(game, "rewinds of the room", r.rewinds, 1) || low;
    low = is_below(game, "contacts", r.contacts, ticks * CONTACTS / MILLION) || low;
    low = is_below(game, "joins", r.joins, ticks * JOINS / MILLION) || low;
    low = is_below(game, "leaves", r.leaves, 1) || low;
    low = is_below(game, "comebacks", r.comebacks, 1) || low;
    low = is_below(game, "resumes", r.resumes, ticks * RESUMES / MILLION) || low;
    low = is_below(game, "ticks taken back", r.taken_back, 1) || low;
    low = is_below(game, "divergences healed", r.healed, r.planted) || low;
    low = is_below(game, "divergences named", r.named, (3 * r.planted + 3) / 4) || low;
    return !low;
}

static bool number(const char *text, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    return *text != '\0' && *end == '\0' && *value > 0;
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"crowd", "ball", "race"};
    uint64_t ticks = 10000, seed = 1, passed = 0, failed = 0;
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        uint64_t *value = strcmp(argv[at], "--ticks") == 0  ? &ticks
                          : strcmp(argv[at], "--seed") == 0 ? &seed
                                                            : NULL;
        if (value == NULL || !number(argv[at + 1], value)) {
            break;
        }
    }
    for (int i = at; i < argc; i++) {
        if (cm_feel_game_find(argv[i]) == NULL) {
            fprintf(stderr, "exact: '%s', expected [--ticks N] [--seed N] [GAME ...]\n", argv[i]);
            return 2;
        }
    }
    for (int i = 0; i < (at < argc ? argc - at : 3); i++) {
        bool good = run(at < argc ? argv[at + i] : all[i], seed, ticks);
        passed += good;
        failed += !good;
        fflush(stdout);
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
