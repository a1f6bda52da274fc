// Goal: between two ticks a body of the past is where its two poses say, turned the shorter way,
// and no other body's pose is mixed in when bodies come and go. Method: a ring beside a world whose
// bodies are put where the test says; poses halfway between ticks against the halves by hand.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "carom/game.h"
#include "shared/base/vec.h"
#include "shared/game/past.h"
#include "tests/unit/sim/rig.h"

#define TICKS  8u
#define BODIES 3u

typedef struct past_rig {
    cm_rig rig;
    void *memory;
    cm_past past;
    carom_body_id bodies[BODIES];
} past_rig;

static carom_body_id add_body(past_rig *p)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.radius = 0.25f;
    body.type = CAROM_BODY_KINEMATIC;
    body.history = true;
    return cm_rig_body(&p->rig, &body, &shape);
}

static past_rig make(void)
{
    past_rig p;
    const carom_world_def def = cm_rig_def(8);
    p.rig = cm_rig_open(&def, 0);
    p.memory = calloc(1, cm_past_size(TICKS));
    p.past = cm_past_at(p.memory, TICKS);
    for (uint32_t i = 0; i < BODIES; i++) {
        p.bodies[i] = add_body(&p);
    }
    return p;
}

static void free_rig(past_rig *p)
{
    cm_rig_close(&p->rig);
    free(p->memory);
}

static void put(past_rig *p, carom_body_id body, float x, carom_quat q)
{
    cr_assert_eq(carom_body_set_pose(p->rig.world, body, cm_vec(x, 0.0f, 0.0f), q), CAROM_OK);
}

static void note(past_rig *p)
{
    carom_world_step(p->rig.world);
    cm_past_note(&p->past, p->rig.world);
}

// Halfway between the newest row and the one before it.
static uint32_t halfway(const past_rig *p, carom_body_pose poses[CAROM_HISTORY_BODIES_MAX])
{
    uint64_t newest = carom_world_tick(p->rig.world);
    uint64_t time = newest * CAROM_SEEN_PER_TICK - CAROM_SEEN_PER_TICK / 2;
    return cm_past_poses(&p->past, p->rig.world, newest, time, poses);
}

Test(past, a_body_turns_the_shorter_way)
{
    past_rig p = make();
    carom_body_pose poses[CAROM_HISTORY_BODIES_MAX];
    const float angles[BODIES] = {1.5f, -2.5f, 3.0f};
    for (uint32_t sign = 0; sign < 2; sign++) {
        for (uint32_t i = 0; i < BODIES; i++) {
            put(&p, p.bodies[i], (float)i, cm_quat_identity());
        }
        note(&p);
        for (uint32_t i = 0; i < BODIES; i++) {
            // A quaternion and its negative are the same turn.
            carom_quat q = cm_rig_turn_z(angles[i]);
            carom_quat other = {-q.x, -q.y, -q.z, -q.w};
            put(&p, p.bodies[i], (float)i, sign ? other : q);
        }
        note(&p);
        cr_assert_eq(halfway(&p, poses), BODIES);
        for (uint32_t i = 0; i < BODIES; i++) {
            carom_quat q = poses[i].orientation;
            cr_expect_float_eq(2.0f * atan2f(q.z, q.w), 0.5f * angles[i], 1e-5f,
                               "sign %u, body %u: %g", sign, i, (double)(2.0f * atan2f(q.z, q.w)));
        }
    }
    free_rig(&p);
}

// Rows of two ticks hold other bodies: one is gone, then another one has its slot.
Test(past, bodies_that_come_and_go_mix_with_no_other)
{
    past_rig p = make();
    carom_body_pose poses[CAROM_HISTORY_BODIES_MAX];
    for (uint32_t tick = 0; tick < 3; tick++) {
        if (tick == 1) {
            cr_assert_eq(carom_body_destroy(p.rig.world, p.bodies[0]), CAROM_OK);
        } else if (tick == 2) {
            carom_body_id again = add_body(&p);
            cr_assert_eq(again.index, p.bodies[0].index);
        }
        for (uint32_t i = 1; i < BODIES; i++) {
            put(&p, p.bodies[i], 10.0f * (float)i + (float)tick, cm_quat_identity());
        }
        note(&p);
        if (tick == 0) {
            continue;
        }
        cr_assert_eq(halfway(&p, poses), BODIES - 1, "tick %u", tick);
        for (uint32_t i = 1; i < BODIES; i++) {
            cr_expect(carom_body_id_equal(poses[i - 1].body, p.bodies[i]));
            cr_expect_eq(poses[i - 1].position.x, 10.0f * (float)i + (float)tick - 0.5f,
                         "tick %u, body %u: %g", tick, i, (double)poses[i - 1].position.x);
        }
    }
    free_rig(&p);
}
