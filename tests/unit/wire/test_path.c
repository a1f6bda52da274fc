// Goal: each end finds out what its path carries, soon, and notices when that changes. Method: a
// path of a given size, in virtual time; whatever is larger is lost, some of the rest by a seed.
#include "shared/wire/path.h"

#include <criterion/criterion.h>

#include "shared/base/rng.h"

#define RTT_US  100000u

#define ANSWERS 8u

typedef enum cut {
    NOT_CUT,
    CUT_BOTH, // nothing comes either
    CUT_OUT,  // what we send is lost
} cut;

static cut is_cut;
static uint16_t narrowest; // that was known since it was set

// Lets time pass; returns how many probes went out. A tenth is lost, each way together, by chance.
static uint32_t pass(cm_path *path, uint64_t *now_us, uint64_t us, size_t carries, cm_rng *rng)
{
    static struct {
        uint64_t us;
        size_t size;
    } answers[ANSWERS];
    uint32_t probes = 0;
    for (uint64_t until = *now_us + us; *now_us < until; *now_us += 1000) {
        for (uint32_t i = 0; i < ANSWERS; i++) {
            if (answers[i].size > 0 && *now_us >= answers[i].us) {
                if (is_cut != CUT_BOTH) {
                    cm_path_received(path);
                    cm_path_answered(path, answers[i].size, *now_us);
                }
                answers[i].size = 0;
            }
        }
        if (*now_us % 33000 == 0 && is_cut != CUT_BOTH) {
            cm_path_received(path); // views
        }
        uint32_t size = cm_path_probe(path, *now_us);
        probes += size > 0;
        narrowest = path->known < narrowest ? path->known : narrowest;
        if (size > 0 && size <= carries && is_cut == NOT_CUT &&
            (rng == NULL || cm_rng_below(rng, 10) > 0)) {
            uint32_t at = 0;
            while (answers[at].size > 0) {
                cr_assert_lt(++at, ANSWERS);
            }
            answers[at].size = size;
            answers[at].us = *now_us + RTT_US;
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
        cr_assert_leq(probes, cases[i].known > 548 ? 13 : 300, "%u in a minute", probes);
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

// Whatever it does to the probes, in both directions or in one, at the begin or later.
Test(path, a_cut_is_no_narrow_path)
{
    for (uint32_t seed = 1; seed <= 40; seed++) {
        cm_path path;
        cm_rng rng;
        uint64_t now = 1000000;
        cm_rng_seed(&rng, seed);
        cm_path_begin(&path, now);
        for (uint32_t i = 0; i < 30; i++) {
            is_cut = cm_rng_below(&rng, 2) == 0 ? CUT_BOTH : CUT_OUT;
            pass(&path, &now, 100000u * cm_rng_below(&rng, 200), 1500, NULL);
            is_cut = NOT_CUT;
            uint16_t known = narrowest = path.known;
            pass(&path, &now, 100000u * cm_rng_below(&rng, 120), 1500, NULL);
            cr_assert(narrowest >= known && (path.known == 548 || path.known == 1200),
                      "seed %u: %u after %u", seed, path.known, known);
        }
        pass(&path, &now, 6000000, 1500, NULL);
        cr_assert_eq(path.known, 1200, "seed %u", seed);
    }
}

// A bad path, for hours: 10% of what goes comes back to nothing.
Test(path, losses_are_no_narrow_path)
{
    for (uint32_t seed = 1; seed <= 10; seed++) {
        cm_path path;
        cm_rng rng;
        uint64_t now = 1000000;
        cm_rng_seed(&rng, seed);
        cm_path_begin(&path, now);
        pass(&path, &now, 10000000, 1500, &rng);
        cr_assert_eq(path.known, 1200, "seed %u", seed);
        narrowest = path.known;
        for (uint32_t minute = 0; minute < 300; minute++) {
            pass(&path, &now, 60000000, 1500, &rng);
            cr_assert_eq(narrowest, 1200, "seed %u, minute %u", seed, minute);
        }
    }
}

// It shows within seconds: until then nothing large arrives.
Test(path, a_narrow_path_shows_soon)
{
    for (uint32_t seed = 1; seed <= 40; seed++) {
        cm_path path;
        cm_rng rng;
        uint64_t now = 1000000, from;
        cm_rng_seed(&rng, seed);
        cm_path_begin(&path, now);
        pass(&path, &now, 2000000 + 100000u * cm_rng_below(&rng, 100), 1500, NULL);
        cr_assert_eq(path.known, 1200);
        from = now;
        while (path.known == 1200) {
            pass(&path, &now, 100000, 1000, &rng);
            cr_assert_leq(now - from, 15000000, "seed %u", seed);
        }
        pass(&path, &now, 8000000, 1000, &rng);
        cr_assert_eq(path.known, 800, "seed %u", seed);
    }
}

// The other end answers nothing, but sends: it is asked ever less often.
Test(path, who_never_answers_is_probed_rarely)
{
    cm_path path;
    uint64_t now = 1000000, bytes = 0;
    uint32_t probes = 0;
    cm_path_begin(&path, now);
    for (uint32_t ms = 0; ms < 60000; ms++, now += 1000) {
        cm_path_received(&path);
        uint32_t size = cm_path_probe(&path, now);
        probes += size > 0;
        bytes += size;
    }
    cr_expect_leq(probes, 2 * 20, "%u", probes);
    cr_expect_leq(bytes, 20 * 1264, "%u bytes in a minute", (unsigned)bytes);
    cr_expect_eq(path.known, 548);
    // Its answer to one of them is believed at once.
    cm_path_answered(&path, 1200, now);
    cr_expect_eq(path.known, 1200);
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
