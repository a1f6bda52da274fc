// Goal: server, clients, network, clock and store together keep their promises under faults, and
// one seed is one run. Method: see cluster.h; every seed is run twice and must give the same trace.
//
//   cluster [--seed N | --seeds A..B] [--ticks N] [--once] [--keep]
//
// One line a seed; a count of zero where there must be some is a failure. Status 0 or 1; 2 for bad
// usage.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cluster/cluster.h"

typedef struct options {
    uint64_t first, last, ticks;
    bool once, keep;
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
            o->once = true;
        } else if (strcmp(name, "--keep") == 0) {
            o->keep = true;
        } else if (strcmp(name, "--seed") == 0 && parse_number(value, end, &o->first)) {
            o->last = o->first;
            i++;
        } else if (strcmp(name, "--seeds") == 0 && parse_range(value, o)) {
            i++;
        } else if (strcmp(name, "--ticks") == 0 && parse_number(value, end, &o->ticks)) {
            i++;
        } else {
            fprintf(stderr,
                    "cluster: '%s %s', expected [--seed N | --seeds A..B] [--ticks N] "
                    "[--once] [--keep]\n",
                    name, value);
            return false;
        }
    }
    return true;
}

static void print(uint64_t seed, const cluster_result *r)
{
    printf("cluster: seed %" PRIu64 " trace %016" PRIx64 ": ticks %" PRIu64 ", rewinds %" PRIu64
           " (%" PRIu64 " ticks), late %" PRIu64 ", contacts %" PRIu64 ", lost %" PRIu64
           ", duplicates %" PRIu64 ", partitioned %" PRIu64 ", joins %" PRIu64 " (%" PRIu64
           " rewound), leaves %" PRIu64 " (%" PRIu64 "), messages %" PRIu64 " (%" PRIu64
           "), crashes %" PRIu64 " (%" PRIu64 " ticks, %" PRIu64 " in doubt), told %" PRIu64
           ", reconciles %" PRIu64 ", views %" PRIu64 ", compared %" PRIu64 ", replayed %" PRIu64
           ", prediction error %.4f m (max %.3f)\n",
           seed, r->trace, r->ticks, r->rewinds, r->rewound_ticks, r->late_inputs, r->contacts,
           r->lost, r->duplicated, r->partitioned, r->recorded.joins, r->rewound.joins,
           r->recorded.leaves, r->rewound.leaves, r->recorded.messages, r->rewound.messages,
           r->crashes, r->taken_back, r->unsure, r->told, r->reconciles, r->view_packets,
           r->bodies_compared, r->replayed_ticks, r->error_mean, r->error_max);
}

// What a run that tested anything has some of.
static void check_counts(cluster_result *r)
{
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {
        {"rewinds", r->rewinds},
        {"contacts", r->contacts},
        {"losses", r->lost},
        {"duplicates", r->duplicated},
        {"partitioned datagrams", r->partitioned},
        {"reconciles", r->reconciles},
        {"bodies compared", r->bodies_compared},
        {"replayed ticks", r->replayed_ticks},
        {"late inputs", r->late_inputs},
        {"joins", r->recorded.joins},
        {"leaves", r->recorded.leaves},
        {"messages", r->recorded.messages},
        {"keyframes", r->keyframes},
        {"durable ticks told", r->durable_told},
        {"crashes", r->crashes},
        {"ticks taken back", r->taken_back},
        {"messages told", r->told},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].count == 0) {
            cluster_fail(r, "no %s: the run tested nothing of them", counts[i].name);
        }
    }
}

// What two seeds and more have some of: events in ticks that were rewound.
static bool check_sums(const options *o, const cluster_events *rewound)
{
    bool all = rewound->joins > 0 && rewound->leaves > 0 && rewound->messages > 0;
    printf("cluster: rewound over %" PRIu64 " joins, %" PRIu64 " leaves, %" PRIu64 " messages\n",
           rewound->joins, rewound->leaves, rewound->messages);
    if (o->first < o->last && !all) {
        printf("cluster: FAILED: the seeds tested nothing of one of them\n");
        return false;
    }
    return true;
}

static bool run_seed(const options *o, uint64_t seed, cluster_events *rewound)
{
    cluster_result result;
    cluster_run(seed, o->ticks, o->keep, &result);
    check_counts(&result);
    if (!o->once && !result.failed) {
        cluster_result again;
        cluster_run(seed, o->ticks, false, &again);
        if (again.trace != result.trace) {
            cluster_fail(&result, "the second run gave trace %016" PRIx64, again.trace);
        }
    }
    print(seed, &result);
    rewound->joins += result.rewound.joins;
    rewound->leaves += result.rewound.leaves;
    rewound->messages += result.rewound.messages;
    if (result.failed) {
        printf("cluster: FAILED seed %" PRIu64 " trace %016" PRIx64 ": %s\n", seed, result.trace,
               result.what);
    }
    fflush(stdout);
    return !result.failed;
}

int main(int argc, char **argv)
{
    options o = {.first = 1, .last = 1, .ticks = 2000};
    if (!parse(argc, argv, &o)) {
        return 2;
    }
    uint64_t failed = 0;
    cluster_events rewound = {0, 0, 0};
    for (uint64_t seed = o.first; seed <= o.last; seed++) {
        failed += !run_seed(&o, seed, &rewound);
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", o.last - o.first + 1 - failed, failed);
    return check_sums(&o, &rewound) && failed == 0 ? 0 : 1;
}
