// Goal: servers, clients, network, clock and stores together keep their promises under faults, and
// one seed is one run. Method: see cluster.h; every seed is run twice and must give the same trace;
// with --twice-every N those that N divides.
//
//   cluster [--seed N | --seeds A..B] [--ticks N] [--once | --twice-every N] [--keep]
//
// One line a seed; a count of zero where there must be some is a failure: for each seed of what it
// drew, for ten seeds and more of everything. Status 0 or 1; 2 for bad usage.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cluster/cluster.h"

typedef struct options {
    uint64_t first, last, ticks, twice_every; // 0: none is
    bool keep;
} options;

static bool parse_number(const char *text, const char *end, uint64_t *value)
{
    char *stop;
    *value = strtoull(text, &stop, 10);
    return stop != text && stop == end;
}

static bool parse_range(const char *text, options *o)
{
    const char *dots = strstr(text, "..");
    return dots != NULL && parse_number(text, dots, &o->first) &&
           parse_number(dots + 2, text + strlen(text), &o->last) && o->first <= o->last;
}

static bool parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        const char *end = value + strlen(value);
        if (strcmp(name, "--once") == 0) {
            o->twice_every = 0;
        } else if (strcmp(name, "--keep") == 0) {
            o->keep = true;
        } else if (strcmp(name, "--seed") == 0 && parse_number(value, end, &o->first)) {
            o->last = o->first;
            i++;
        } else if (strcmp(name, "--seeds") == 0 && parse_range(value, o)) {
            i++;
        } else if (strcmp(name, "--ticks") == 0 && parse_number(value, end, &o->ticks)) {
            i++;
        } else if (strcmp(name, "--twice-every") == 0 &&
                   parse_number(value, end, &o->twice_every)) {
            i++;
        } else {
            fprintf(stderr,
                    "cluster: '%s %s', expected [--seed N | --seeds A..B] [--ticks N] "
                    "[--once | --twice-every N] [--keep]\n",
                    name, value);
            return false;
        }
    }
    return true;
}

// What is counted: of every seed, of those whose menu has a fault, or of so many seeds together.
typedef struct counted {
    const char *name;
    size_t offset;
    int when; // EVERY, SOME, or a cluster_fault
} counted;

#define EVERY (-1)
#define SOME  (-2)
#define SEEDS 10u // of which some must have everything

#define COUNT(name, field, when)                                                                   \
    {                                                                                              \
        name, offsetof(cluster_result, field), when                                                \
    }
static const counted counts[] = {
    COUNT("ticks", ticks, EVERY),
    COUNT("rewinds", rewinds, EVERY),
    COUNT("ticks rewound", rewound_ticks, EVERY),
    COUNT("late inputs", late_inputs, EVERY),
    COUNT("contacts", contacts, EVERY),
    COUNT("losses", lost, EVERY),
    COUNT("duplicates", duplicated, EVERY),
    COUNT("joins", recorded.joins, EVERY),
    COUNT("joins rewound", rewound.joins, SOME),
    COUNT("leaves", recorded.leaves, EVERY),
    COUNT("leaves rewound", rewound.leaves, SOME),
    COUNT("messages", recorded.messages, EVERY),
    COUNT("messages rewound", rewound.messages, SOME),
    COUNT("joins by IPv6", by_ipv6, EVERY),
    COUNT("redirected", redirected, SOME),
    COUNT("used tokens told", used_told, SOME),
    COUNT("used tokens refused", used_refused, SOME),
    COUNT("crashes", crashes, CLUSTER_CRASH),
    COUNT("matches resumed", resumed, CLUSTER_CRASH),
    COUNT("ticks taken back", taken_back, CLUSTER_CRASH),
    COUNT("in doubt", unsure, SOME),
    COUNT("unnoticed", unnoticed, SOME),
    COUNT("comebacks", comebacks, SOME),
    COUNT("cuts", cuts, SOME),
    COUNT("partitioned datagrams", partitioned, CLUSTER_CUT),
    COUNT("tokens expired", expired, CLUSTER_EXPIRY),
    COUNT("comebacks after expiry", outlived, SOME),
    COUNT("joins refused", refused, SOME),
    COUNT("kicks", kicked, SOME),
    COUNT("disks full", full, CLUSTER_DISK),
    COUNT("loss told", loss_told, CLUSTER_DISK),
    COUNT("gaps", gaps, CLUSTER_DISK),
    COUNT("durable ticks told", durable_told, EVERY),
    COUNT("messages told", told, EVERY),
    COUNT("reconciles", reconciles, EVERY),
    COUNT("views", view_packets, EVERY),
    COUNT("bodies compared", bodies_compared, EVERY),
    COUNT("replayed ticks", replayed_ticks, EVERY),
    COUNT("keyframes", keyframes, EVERY),
};
#define COUNTS (sizeof counts / sizeof counts[0])

static uint64_t value_of(const cluster_result *r, const counted *count)
{
    uint64_t value;
    memcpy(&value, (const char *)r + count->offset, sizeof value);
    return value;
}

static void print(uint64_t seed, const cluster_result *r)
{
    printf("cluster: seed %" PRIu64 " trace %016" PRIx64 ":", seed, r->trace);
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t value = value_of(r, &counts[i]);
        if (value > 0) {
            printf(" %s %" PRIu64 ",", counts[i].name, value);
        }
    }
    printf(" prediction error %.4f m (max %.3f)\n", r->error_mean, r->error_max);
}

// What a run that tested anything has some of.
static void check_counts(cluster_result *r)
{
    for (size_t i = 0; i < COUNTS; i++) {
        int when = counts[i].when;
        bool must = when == EVERY || (when >= 0 && r->has[when]);
        if (must && value_of(r, &counts[i]) == 0) {
            cluster_fail(r, "no %s: the run tested nothing of them", counts[i].name);
        }
    }
}

// And what many together have: nothing of the menu may be missing.
static bool check_sums(const options *o, const uint64_t sums[COUNTS])
{
    bool all = true;
    printf("cluster: together");
    for (size_t i = 0; i < COUNTS; i++) {
        printf("%s %s %" PRIu64, i > 0 ? "," : "", counts[i].name, sums[i]);
    }
    printf("\n");
    for (size_t i = 0; i < COUNTS && o->last - o->first + 1 >= SEEDS; i++) {
        if (sums[i] == 0) {
            printf("cluster: FAILED: no %s: the seeds tested nothing of them\n", counts[i].name);
            all = false;
        }
    }
    return all;
}

static bool run_seed(const options *o, uint64_t seed, uint64_t sums[COUNTS])
{
    cluster_result result;
    cluster_run(seed, o->ticks, o->keep, &result);
    check_counts(&result);
    if (o->twice_every > 0 && seed % o->twice_every == 0 && !result.failed) {
        cluster_result again;
        cluster_run(seed, o->ticks, false, &again);
        if (again.trace != result.trace) {
            cluster_fail(&result, "the second run gave trace %016" PRIx64, again.trace);
        }
    }
    print(seed, &result);
    for (size_t i = 0; i < COUNTS; i++) {
        sums[i] += value_of(&result, &counts[i]);
    }
    if (result.failed) {
        printf("cluster: FAILED seed %" PRIu64 " trace %016" PRIx64 ": %s\n", seed, result.trace,
               result.what);
    }
    fflush(stdout);
    return !result.failed;
}

int main(int argc, char **argv)
{
    options o = {.first = 1, .last = 1, .ticks = 600, .twice_every = 1};
    if (!parse(argc, argv, &o)) {
        return 2;
    }
    uint64_t failed = 0;
    uint64_t sums[COUNTS] = {0};
    for (uint64_t seed = o.first; seed <= o.last; seed++) {
        failed += !run_seed(&o, seed, sums);
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", o.last - o.first + 1 - failed, failed);
    return check_sums(&o, sums) && failed == 0 ? 0 : 1;
}
