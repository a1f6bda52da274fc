// Nothing that was acknowledged as durable is lost, whatever the disk does and whenever.
//
// Goal: for `process` and a kill, and for `power` and an honest fsync, the file opens, its chain
// agrees, and it reaches at least the tick that the store said is committed. A disk whose fsync
// lies leaves a file that opens to a sound prefix or is refused. An error never stops the match: it
// is not durable any more, and what was committed before stays.
// Method: the real store and writer on a disk in memory (memory_disk.h), the real reader on what is
// left. A seed draws fault, moment, batches and sizes. CAROM_DISK_SEEDS=FIRST:COUNT asks for others
// than those of `make test`; a failure prints its seed.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/format/proof.h"
#include "tests/unit/counts.h"
#include "tests/unit/record/memory_disk.h"
#include "tests/unit/record/recording.h"

TestSuite(disk, .init = recording_setup, .fini = recording_teardown);

#define SEEDS     400
#define SEEDS_ALL 2000

typedef struct seen {
    uint32_t faults[DISK_FAULTS], struck[DISK_FAULTS];
    uint32_t opened, headless, refused, complete, checkpoints;
    uint64_t acknowledged, found;
} seen;

// A run: what the store said last, and whether it says that the match is durable.
typedef struct run {
    cm_rng rng;
    disk_fault fault;
    bool durability_power, began;
    uint64_t acknowledged;
    bool durable, was_struck; // at the last look
} run;

static cm_scene *scene;

static void hand_over(run *r, cm_store *store, cm_match_handle match, uint64_t tick)
{
    carom_player_input inputs[2] = {{.player = 0}, {.player = 3}};
    cm_game_event event = {CM_EVENT_JOIN, 3, 77, NULL, 0};
    cm_tick_input input = {&event, tick == 1, inputs, cm_rng_below(&r->rng, 3)};
    cm_arrival arrival = {3, true, (int16_t)tick};
    inputs[0].bytes[0] = (uint8_t)tick;
    cm_store_input_timing(store, match, &arrival, 1);
    cm_store_tick(store, match, tick, tick * UINT64_C(0x9e3779b97f4a7c15), &input);
}

static void put_keyframe(run *r, cm_store *store, cm_match_handle match, uint64_t tick)
{
    static uint8_t bytes[400000];
    size_t size = cm_rng_below(&r->rng, 6) == 0 ? sizeof bytes : 3000;
    for (size_t i = 0; i < size; i += 7) {
        bytes[i] = (uint8_t)cm_rng_next(&r->rng);
    }
    cm_store_keyframe(store, match, tick, bytes, size);
}

static void play(run *r)
{
    cm_store_def def = {.directory = recording_folder, .durability_power = r->durability_power};
    cm_store *store;
    cm_match_handle match;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    cm_match_def about = recording_def(scene);
    r->began = cm_store_begin(store, &about, &match) == CAROM_OK;
    uint64_t ticks = r->began ? 5 + cm_rng_below(&r->rng, 60) : 0;
    cm_match_status status = {.durable = false};
    for (uint64_t tick = 1; tick <= ticks; tick++) {
        hand_over(r, store, match, tick);
        if (tick % 8 == 0) {
            put_keyframe(r, store, match, tick);
        }
        if (cm_rng_below(&r->rng, 4) == 0) {
            cm_store_pump(store);
            cm_store_status(store, match, &status);
            r->acknowledged = status.committed_tick;
        }
    }
    if (r->began && cm_rng_below(&r->rng, 3) > 0) {
        cm_store_end(store, match, CM_MATCH_ENDED);
        cm_store_pump(store);
        cm_store_status(store, match, &status);
        r->acknowledged = status.committed_tick;
    }
    cm_store_flush(store);
    cm_store_status(store, match, &status);
    r->durable = status.durable;
    // SQLite keeps some errors of its journal to itself, which is in use at the very end alone.
    r->was_struck = disk_has_struck() && !disk_struck_journal();
    cm_store_destroy(store);
}

static void check(const run *r, uint64_t seed, seen *counts)
{
    cm_match_file *file;
    cm_match_error error = {""};
    cm_proof proof = {0};
    carom_result result = cm_match_open(recording_path(), &file, &error);
    if (result == CAROM_OK) {
        result = cm_match_prove(file, NULL, &proof, &error);
        cm_match_close(file);
    }
    bool sound = result == CAROM_OK && proof.verdict == CM_PROOF_CONSISTENT;
    // A store that said nothing yet promised nothing: its head may be half there.
    bool promised =
        r->began && r->fault != DISK_LYING && (r->fault != DISK_POWER || r->durability_power);
    if (promised) {
        cr_assert(sound, "seed %llu, fault %d: %s%s", (unsigned long long)seed, r->fault,
                  error.message, proof.changed);
        cr_assert_geq(proof.ticks, r->acknowledged, "seed %llu, fault %d: %llu, acknowledged %llu",
                      (unsigned long long)seed, r->fault, (unsigned long long)proof.ticks,
                      (unsigned long long)r->acknowledged);
        counts->acknowledged += r->acknowledged;
        counts->found += proof.ticks;
    }
    counts->opened += sound;
    counts->complete += sound && proof.complete;
    counts->headless += !r->began;
    counts->refused += !sound && r->began;
}

static void one_seed(uint64_t seed, seen *counts)
{
    run r = {.fault = DISK_WELL};
    cm_rng_seed(&r.rng, seed);
    r.fault = (disk_fault)cm_rng_below(&r.rng, DISK_FAULTS);
    r.durability_power = cm_rng_below(&r.rng, 2) == 0;
    // Early ones are frequent: the head, and the first commits. Late ones meet the end.
    uint64_t at = cm_rng_next(&r.rng) % (UINT64_C(1) << (3 + cm_rng_below(&r.rng, 8)));
    unlink(recording_path());
    disk_begin(seed, r.fault, at);
    disk_install();
    play(&r);
    disk_uninstall();
    counts->faults[r.fault]++;
    counts->struck[r.fault] += disk_has_struck();
    if (r.was_struck && r.fault == DISK_WRITE_FAIL) {
        cr_assert_not(r.durable, "seed %llu: an error, and it says durable",
                      (unsigned long long)seed);
    }
    disk_leave(recording_path());
    if (r.began || access(recording_path(), F_OK) == 0) {
        check(&r, seed, counts);
    }
}

Test(disk, what_was_acknowledged_is_there)
{
    unsigned long long first = 1, count = test_count(SEEDS, SEEDS_ALL);
    const char *asked = getenv("CAROM_DISK_SEEDS");
    if (asked != NULL) {
        cr_assert_eq(sscanf(asked, "%llu:%llu", &first, &count), 2);
    }
    seen counts = {{0}};
    scene = recording_scene();
    for (uint64_t seed = first; seed < first + count; seed++) {
        one_seed(seed, &counts);
    }
    disk_end();
    cm_scene_free(scene);
    fprintf(stderr, "disk: %llu seeds, struck:", count);
    for (int i = 0; i < DISK_FAULTS; i++) {
        fprintf(stderr, " %u of %u", counts.struck[i], counts.faults[i]);
        cr_expect(i == DISK_WELL || counts.struck[i] > count / 50, "fault %d never met", i);
    }
    fprintf(stderr,
            "; %u sound, %u complete, %u refused; %llu ticks acknowledged, %llu found; %llu "
            "writes, %llu torn sectors, %llu lost writes\n",
            counts.opened, counts.complete, counts.refused, (unsigned long long)counts.acknowledged,
            (unsigned long long)counts.found, (unsigned long long)disk_seen.writes,
            (unsigned long long)disk_seen.torn_sectors, (unsigned long long)disk_seen.lost_writes);
    cr_expect_gt(counts.refused, 0); // a lying disk does harm
    cr_expect_gt(counts.complete, 10);
}
