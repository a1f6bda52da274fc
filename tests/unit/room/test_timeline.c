// Goal: whatever way a game came to a tick, the state is the same: inputs on time or late, events
// stepped again, a recording given from outside, images of fixed or growing size; a correction at
// an old tick holds, and none changes nothing; without memory nothing is kept, and nothing breaks.
// Method: timelines over small games, beside a game that is stepped straight.
#include "shared/room/timeline.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/rng.h"
#include "shared/base/vec.h"
#include "shared/base/memory.h"
#include "tests/unit/node/rig.h"

#define PAST    8u
#define TICKS   200u
#define PLAYERS 3u

typedef struct recording {
    cm_tick_input input;
    cm_event_list events;
    carom_player_input inputs[PLAYERS];
} recording;

typedef struct bench {
    cm_scene *scene;
    carom_game *game;
    cm_timeline *timeline;
} bench;

static bench open_bench(const carom_allocator *allocator, bool grows)
{
    bench b = {.scene = rig_scene(2)};
    cr_assert_eq(cm_game_create(b.scene, &carom_module_sandbox, 1, NULL, &b.game), CAROM_OK);
    cm_timeline_def def = {.game = b.game,
                           .allocator = allocator,
                           .images = PAST + 2,
                           .images_grow = grows,
                           .events = true,
                           .past = PAST,
                           .future = 60};
    b.timeline = cm_timeline_create(&def);
    return b;
}

static void close_bench(bench *b)
{
    cm_timeline_destroy(b->timeline);
    cm_game_destroy(b->game);
    cm_scene_free(b->scene);
}

static void advance(bench *b)
{
    cm_timeline_step(b->timeline, NULL);
    cr_assert(cm_timeline_keep(b->timeline));
}

static void go_back_and_forth(bench *b)
{
    for (uint32_t left = cm_timeline_rewind(b->timeline); left > 0; left--) {
        advance(b);
    }
}

static void input_of(uint64_t tick, uint32_t player, uint8_t bytes[CAROM_INPUT_MAX])
{
    cm_rng rng;
    cm_rng_seed(&rng, tick * PLAYERS + player);
    rig_input(bytes, (float)(int32_t)(cm_rng_next(&rng) % 3) - 1.0f, 1.0f, 0);
}

// Players join with tick 1; player 0 leaves with tick 50 and comes back with tick 60.
static void put_events(cm_event_list *list, uint64_t tick)
{
    for (uint32_t player = 0; tick == 1 && player < PLAYERS; player++) {
        cm_game_event join = {CM_EVENT_JOIN, player, player + 1, NULL, 0};
        cr_assert(cm_event_list_push(list, &join));
    }
    if (tick == 50 || tick == 60) {
        cm_game_event event = {tick == 50 ? CM_EVENT_LEAVE : CM_EVENT_JOIN, 0, 0, NULL, 0};
        event.client_id = tick == 50 ? 0 : 1;
        cr_assert(cm_event_list_push(list, &event));
    }
}

// The inputs of tick t come `late` ticks after it was made; 0: in time.
static uint64_t run(uint32_t late, bool grows, recording *recorded)
{
    bench b = open_bench(NULL, grows);
    cr_assert_not_null(b.timeline);
    cr_assert(cm_timeline_start(b.timeline));
    for (uint32_t player = 0; player < PLAYERS; player++) {
        cm_inbox_open(cm_timeline_inbox(b.timeline), player, 1);
    }
    for (uint64_t now = 1; now <= TICKS + late; now++) {
        for (uint32_t player = 0; now > late && player < PLAYERS; player++) {
            uint8_t bytes[CAROM_INPUT_MAX];
            input_of(now - late, player, bytes);
            cm_inbox_put(cm_timeline_inbox(b.timeline), now - 1, player, now - late, bytes);
        }
        if (now <= TICKS) {
            go_back_and_forth(&b);
            put_events(cm_timeline_events(b.timeline, now), now);
            advance(&b);
            cr_assert_eq(cm_timeline_newest(b.timeline), now);
        }
        if (recorded != NULL && now <= TICKS) {
            recording *r = &recorded[now];
            r->input = cm_timeline_input(b.timeline, now);
            cm_event_list_copy(&r->events, cm_timeline_events(b.timeline, now));
            memcpy(r->inputs, r->input.inputs, r->input.input_count * sizeof r->inputs[0]);
            r->input.inputs = r->inputs;
            r->input.events = r->events.events;
        }
    }
    go_back_and_forth(&b);
    uint64_t hash = cm_game_hash(b.game);
    close_bench(&b);
    return hash;
}

Test(timeline, inputs_come_when_they_like)
{
    uint64_t in_time = run(0, false, NULL);
    for (uint32_t late = 1; late <= PAST; late++) {
        cr_assert_eq(run(late, late % 2 == 0, NULL), in_time, "%u ticks late", late);
    }
}

// A recording is what the timeline says went into each tick; it keeps nothing.
Test(timeline, a_recording_gives_the_same)
{
    recording *recorded = calloc(TICKS + 1, sizeof *recorded);
    uint64_t hash = run(0, false, recorded);
    cm_scene *scene = rig_scene(2);
    carom_game *game;
    cr_assert_eq(cm_game_create(scene, &carom_module_sandbox, 1, NULL, &game), CAROM_OK);
    cm_timeline *timeline = cm_timeline_create(&(cm_timeline_def){.game = game});
    cr_assert(cm_timeline_start(timeline));
    cr_assert_null(cm_timeline_inbox(timeline));
    for (uint64_t tick = 1; tick <= TICKS; tick++) {
        cm_timeline_step(timeline, &recorded[tick].input);
        cr_assert_eq(cm_timeline_tick(timeline), tick);
    }
    cr_assert_eq(cm_game_hash(game), hash);
    cr_assert_not(cm_timeline_restore(timeline, TICKS), "nothing is kept");
    cm_timeline_destroy(timeline);
    cm_game_destroy(game);
    cm_scene_free(scene);
    free(recorded);
}

static bench at_tick(uint64_t tick)
{
    bench b = open_bench(NULL, true);
    cr_assert_not_null(b.timeline);
    cr_assert(cm_timeline_start(b.timeline));
    put_events(cm_timeline_events(b.timeline, 1), 1);
    while (cm_timeline_tick(b.timeline) < tick) {
        advance(&b);
    }
    return b;
}

Test(timeline, a_correction_holds_and_none_changes_nothing)
{
    bench b = at_tick(30);
    uint64_t hash = cm_game_hash(b.game);
    cr_assert(cm_timeline_restore(b.timeline, 30 - PAST));
    cr_assert_eq(cm_timeline_tick(b.timeline), 30 - PAST);
    cr_assert_eq(cm_timeline_newest(b.timeline), 30);
    while (cm_timeline_tick(b.timeline) < 30) {
        advance(&b);
    }
    cr_assert_eq(cm_game_hash(b.game), hash);

    carom_world *world = carom_game_world(b.game);
    carom_body_id cube = cm_game_player_body(b.game, 0);
    carom_body_state state;
    cr_assert(cm_timeline_restore(b.timeline, 27));
    cr_assert_eq(carom_body_set_velocity(world, cube, cm_vec(0, 5, 0), cm_vec(0, 0, 0)), CAROM_OK);
    cr_assert(cm_timeline_keep(b.timeline));
    while (cm_timeline_tick(b.timeline) < 30) {
        advance(&b);
    }
    cr_assert_neq(cm_game_hash(b.game), hash);
    cr_assert(cm_timeline_restore(b.timeline, 27));
    cr_assert_eq(carom_body_get(world, cube, &state), CAROM_OK);
    cr_assert_float_eq(state.linear_velocity.y, 5.0f, 1e-6f, "it is what is kept of that tick");
    close_bench(&b);
}

Test(timeline, ticks_that_are_not_kept_are_not_restored)
{
    bench b = at_tick(30);
    uint64_t hash = cm_game_hash(b.game);
    cr_assert_not(cm_timeline_restore(b.timeline, 30 - PAST - 2));
    cr_assert_not(cm_timeline_restore(b.timeline, 31));
    cr_assert_eq(cm_game_hash(b.game), hash);
    cr_assert(cm_timeline_restore(b.timeline, 30 - PAST - 1));

    // A second game reads a kept tick, the first one stands where it stood.
    carom_game *second;
    cr_assert_eq(cm_game_create(b.scene, &carom_module_sandbox, 1, NULL, &second), CAROM_OK);
    cr_assert(cm_timeline_read(b.timeline, 30, second));
    cr_assert_eq(cm_game_hash(second), hash);
    cr_assert_eq(cm_timeline_tick(b.timeline), 30 - PAST - 1);
    cr_assert(cm_timeline_copy(b.timeline, second));
    cr_assert(cm_timeline_start(b.timeline));
    cr_assert_eq(cm_game_hash(b.game), hash);
    cr_assert_eq(cm_timeline_newest(b.timeline), 30);
    cm_game_destroy(second);
    close_bench(&b);
}

// An input that was put for a tick counts each time that the tick is made, also from its image.
Test(timeline, inputs_stay_with_their_tick)
{
    bench b = at_tick(20);
    uint8_t bytes[CAROM_INPUT_MAX];
    rig_input(bytes, 1.0f, 0.0f, 0);
    cm_inbox_put(cm_timeline_inbox(b.timeline), 20, 1, 21, bytes);
    advance(&b);
    advance(&b);
    cr_assert_eq(memcmp(cm_game_held_input(b.game, 1), bytes, RIG_INPUT_SIZE), 0);
    uint64_t hash = cm_game_hash(b.game);
    for (uint64_t from = 18; from <= 21; from++) {
        cr_assert(cm_timeline_restore(b.timeline, from));
        while (cm_timeline_tick(b.timeline) < 22) {
            advance(&b);
        }
        cr_assert_eq(cm_game_hash(b.game), hash, "from tick %d", (int)from);
    }
    close_bench(&b);
}

// Gives `left` blocks, then none.
static void *scarce(void *context, size_t size)
{
    uint32_t *left = context;
    if (*left == 0) {
        return NULL;
    }
    (*left)--;
    return malloc(size);
}

static void give_back(void *context, void *memory)
{
    (void)context;
    free(memory);
}

Test(timeline, without_memory_nothing_is_kept_and_nothing_breaks)
{
    uint32_t left = 0, needed = 0;
    carom_allocator allocator = {&left, scarce, give_back};
    for (bool made = false; !made; needed++) {
        left = needed;
        bench b = open_bench(&allocator, true);
        made = b.timeline != NULL;
        if (made) { // just as many as it needed: the first image has none
            cr_assert_not(cm_timeline_start(b.timeline));
            cr_assert_not(cm_timeline_restore(b.timeline, 0));
            cm_timeline_step(b.timeline, NULL);
            left = 1;
            cr_assert(cm_timeline_keep(b.timeline));
            cr_assert(cm_timeline_restore(b.timeline, 1));
        }
        close_bench(&b);
    }
    cr_assert_gt(needed, 4u);
    cm_timeline_def def = {.images = 100};
    cr_assert_eq(cm_timeline_size(&def, SIZE_MAX), UINT64_MAX);
    cr_assert_lt(cm_timeline_size(&def, 1000), 1u << 20);
}
