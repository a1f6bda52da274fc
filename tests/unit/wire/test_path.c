// Goal: each end finds out what its path carries, soon, and notices when that changes. Method: a
// path of a given size, in virtual time; whatever is larger is lost, some of the rest by a seed.
#include "shared/wire/path.h"

#include <criterion/criterion.h>

#include "shared/base/rng.h"

#define RTT_US 100000u

// Lets time pass; returns how many probes went out.
static uint32_t pass(cm_path *path, uint64_t *now_us, uint64_t us, size_t carries, cm_rng *rng)
{
    uint32_t probes = 0;
    uint64_t until = *now_us + us, answer_us = 0;
    size_t answer = 0;
    for (; *now_us < until; *now_us += 1000) {
        if (answer > 0 && *now_us >= answer_us) {
            cm_path_heard(path);
            cm_path_answered(path, answer, *now_us);
            answer = 0;
        }
        if (*now_us % 33000 == 0) {
            cm_path_heard(path); // views
        }
        uint32_t size = cm_path_probe(path, *now_us);
        probes += size > 0;
        if (size > 0 && size <= carries && (rng == NULL || cm_rng_below(rng, 10) > 0)) {
            answer = size;
            answer_us = *now_us + RTT_US;
        }
    }
    return probes;
}

Test(path, finds_what_it_carries)
{
    static const struct {
        size_t carries, known;
    } cases[] = {{1500, 1200}, {1200, 1200}, {1199, 1024}, {1000, 800}, {600, 548}, {548, 548}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cm_path path;
        uint64_t now = 1000000;
        cm_path_begin(&path, now);
        cr_assert_eq(path.known, 548);
        pass(&path, &now, cases[i].carries >= 1200 ? 2 * RTT_US : 5000000, cases[i].carries, NULL);
        cr_assert_eq(path.known, cases[i].known, "%zu: %u", cases[i].carries, path.known);
        uint32_t probes = pass(&path, &now, 60000000, cases[i].carries, NULL);
        cr_assert_eq(path.known, cases[i].known);
        cr_assert_leq(probes, 150, "%u in a minute", probes);
    }
}

Test(path, notices_a_change)
{
    cm_path path;
    cm_rng rng;
    uint64_t now = 1000000;
    cm_rng_seed(&rng, 1);
    cm_path_begin(&path, now);
    pass(&path, &now, 2000000, 1500, &rng);
    cr_assert_eq(path.known, 1200);
    pass(&path, &now, 600000000, 1500, &rng);
    cr_assert_eq(path.known, 1200, "a lost probe now and then changes nothing");
    pass(&path, &now, 30000000, 900, NULL);
    cr_assert_eq(path.known, 800);
    pass(&path, &now, 60000000, 1500, NULL);
    cr_assert_geq(path.known, 800);
}

// Silence is no proof: while nothing at all comes, what was known stays known.
Test(path, silence_changes_nothing)
{
    cm_path path;
    uint64_t now = 1000000;
    cm_path_begin(&path, now);
    pass(&path, &now, 2000000, 1500, NULL);
    for (uint32_t i = 0; i < 100; i++) {
        now += 5000000;
        cm_path_probe(&path, now);
    }
    cr_assert_eq(path.known, 1200);
}

Test(path, answers_to_nothing_are_ignored)
{
    cm_path path;
    cm_path_begin(&path, 0);
    cm_path_answered(&path, 0, 0);
    cm_path_answered(&path, 777, 0);
    cm_path_answered(&path, 100000, 0);
    cr_assert_eq(path.known, 548);
}
