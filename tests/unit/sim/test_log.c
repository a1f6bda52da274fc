// Goal: a world tells what its solvers meet (carom/log.h): each code once where it should, with its
// level, body and count, and never where all is well; a handler changes no bit. Method: for each
// code a scene that must end in it, heard by a handler, beside the counters of the statistics.
#include "shared/sim/state/image.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct heard {
    uint64_t messages[CAROM_LOG_CODE_COUNT], counts[CAROM_LOG_CODE_COUNT];
    carom_log_message last[CAROM_LOG_CODE_COUNT];
} heard;

static void hear(void *context, const carom_log_message *message)
{
    heard *to = context;
    cr_assert_lt((uint32_t)message->code, CAROM_LOG_CODE_COUNT);
    to->messages[message->code]++;
    to->counts[message->code] += message->count;
    to->last[message->code] = *message;
}

static void listen(cm_rig *rig, heard *to)
{
    memset(to, 0, sizeof *to);
    const carom_log log = {to, hear};
    cr_assert_eq(carom_world_set_log(rig->world, &log), CAROM_OK);
}

// What was heard is what was counted, and of this code there was something, of `others` (a bit a
// code) perhaps, of the rest nothing.
static const carom_log_message *only(const cm_rig *rig, const heard *from, carom_log_code code,
                                     uint32_t others)
{
    carom_world_stats stats;
    carom_world_stats_get(rig->world, &stats);
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        const char *name = carom_log_name((carom_log_code)i);
        cr_assert_eq(stats.log_counts[i], from->counts[i], "%s", name);
        cr_assert(i == code || (others >> i & 1u) != 0 || from->counts[i] == 0, "%s", name);
    }
    const carom_log_message *message = &from->last[code];
    cr_assert_gt(from->messages[code], 0, "%s", carom_log_name(code));
    cr_assert_eq(message->world, rig->world);
    cr_assert_eq(message->level, carom_log_level_of(code));
    cr_assert_str_eq(message->text, carom_log_text(code));
    return message;
}

static cm_rig open_rig(uint32_t bodies, carom_solver_type solver)
{
    carom_world_def def = cm_rig_def(bodies);
    def.solver.type = solver;
    def.sleep = false;
    return cm_rig_open(&def, 0);
}

static const carom_vec3 HALF = {0.5f, 0.5f, 0.5f};

Test(log, contacts_cut)
{
    carom_world_def def = cm_rig_def(16);
    def.limits.contacts = 3;
    cm_rig rig = cm_rig_open(&def, 0);
    heard all;
    listen(&rig, &all);
    cm_rig_plane(&rig);
    for (int i = 0; i < 3; i++) {
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(2.0f * (float)i, 0.5f, 0.0f), HALF);
    }
    cm_rig_step(&rig, 3);
    cr_assert_eq(all.counts[CAROM_LOG_CONTACTS_CUT], 0, "three are not above the limit");
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(6.0f, 0.5f, 0.0f), HALF);
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(8.0f, 0.5f, 0.0f), HALF);
    cm_rig_step(&rig, 4);
    const carom_log_message *m = only(&rig, &all, CAROM_LOG_CONTACTS_CUT, 0);
    cr_assert_eq(all.messages[CAROM_LOG_CONTACTS_CUT], 4);
    cr_assert_eq(m->count, 2);
    cr_assert_eq(m->tick, 6, "the step from tick 6");
    cr_assert(carom_body_id_is_null(m->body));
    cr_assert_eq(m->level, CAROM_LOG_ERROR);
    cm_rig_close(&rig);
}

// In every solver, with the body's own id.
Test(log, body_put_to_rest)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_VOLUME; solver++) {
        cm_rig rig = open_rig(8, (carom_solver_type)solver);
        heard all;
        listen(&rig, &all);
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 5.0f, 0.0f), HALF);
        carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(3.0f, 5.0f, 0.0f), HALF);
        cm_rig_step(&rig, 2);
        // Past what the API lets in.
        cm_body_change(rig.world, b.index)->mass = 1.0e-20f;
        cm_body_change(rig.world, b.index)->applied_force = cm_vec(3e38f, -3e38f, 0.0f);
        cm_rig_step(&rig, 1);
        const carom_log_message *m = only(&rig, &all, CAROM_LOG_BODY_PUT_TO_REST, 0);
        cr_assert_eq(all.messages[CAROM_LOG_BODY_PUT_TO_REST], 1, "solver %d", solver);
        cr_assert_eq(m->body.index, b.index);
        cr_assert_eq(m->body.generation, b.generation);
        cm_rig_close(&rig);
    }
}

Test(log, volume_over_bound)
{
    carom_world_def def = cm_rig_def(8);
    def.solver.type = CAROM_SOLVER_VOLUME;
    def.solver.volume.stiffness = 1.0e12f;
    cm_rig rig = cm_rig_open(&def, 0);
    heard all;
    listen(&rig, &all);
    cm_rig_plane(&rig);
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f, 0.0f), HALF);
    cm_rig_step(&rig, 5);
    const carom_log_message *m = only(&rig, &all, CAROM_LOG_VOLUME_OVER_BOUND, 0);
    cr_assert_eq(all.messages[CAROM_LOG_VOLUME_OVER_BOUND], 5);
    cr_assert_eq(m->level, CAROM_LOG_WARNING);
    cm_rig_close(&rig);
}

// A blow goes through a row of balls against the order of slots: one pair a round.
static uint64_t capped_hits(uint32_t balls)
{
    carom_world_def def = cm_rig_def(balls);
    def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    def.solver.type = CAROM_SOLVER_IMPULSE;
    cm_rig rig = cm_rig_open(&def, 0);
    heard all;
    listen(&rig, &all);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = 0.5f;
    shape.friction = 0.0f;
    shape.restitution = 1.0f;
    for (uint32_t i = 0; i < balls; i++) {
        body.position = cm_vec((float)i, 0.0f, 0.0f);
        body.linear_velocity = cm_vec(i + 1 == balls ? -1.0f : 0.0f, 0.0f, 0.0f);
        cm_rig_body(&rig, &body, &shape);
    }
    cm_rig_step(&rig, 1);
    if (balls > 257) {
        only(&rig, &all, CAROM_LOG_IMPULSE_HITS_CAPPED, 0);
    }
    cm_rig_close(&rig);
    return all.messages[CAROM_LOG_IMPULSE_HITS_CAPPED];
}

Test(log, impulse_hits_capped)
{
    cr_assert_eq(capped_hits(200), 0);
    cr_assert_eq(capped_hits(300), 1);
}

static uint64_t capped_presses(int boxes)
{
    cm_rig rig = open_rig(64, CAROM_SOLVER_IMPULSE);
    heard all;
    listen(&rig, &all);
    cm_rig_plane(&rig);
    for (int i = 0; i < boxes; i++) {
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f + (float)i, 0.0f), HALF);
    }
    cm_rig_step(&rig, 2);
    if (boxes > 1) {
        cr_assert_eq(only(&rig, &all, CAROM_LOG_IMPULSE_PRESS_CAPPED, 0)->level, CAROM_LOG_DEBUG);
    }
    cm_rig_close(&rig);
    return all.messages[CAROM_LOG_IMPULSE_PRESS_CAPPED];
}

Test(log, impulse_press_capped)
{
    cr_assert_eq(capped_presses(1), 0);
    cr_assert_gt(capped_presses(40), 0);
}

// 6 rows a joint: 33,400 joints want more than the 200,000 rows of a world, and 67 go without. One
// body on a joint is made, the others are copies of its rows.
Test(log, lcp_rows_cut)
{
    const uint32_t count = 33400;
    carom_world_def def = cm_rig_def(count);
    def.limits.joints = count;
    def.limits.contacts = 64;
    def.solver.type = CAROM_SOLVER_LCP;
    cm_rig rig = cm_rig_open(&def, 0);
    heard all;
    listen(&rig, &all);
    carom_body_def body = carom_default_body_def();
    body.has_mass = body.has_inertia = true;
    body.mass = 1.0f;
    body.inertia = cm_vec(1.0f, 1.0f, 1.0f);
    carom_joint_def joint = carom_default_joint_def();
    joint.type = CAROM_JOINT_FIXED;
    cr_assert_eq(carom_body_create(rig.world, &body, NULL, 0, &joint.body_b), CAROM_OK);
    cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    for (uint32_t i = 1; i < count; i++) {
        cm_motions(rig.world)[i] = cm_motions(rig.world)[0];
        *cm_body_change(rig.world, i) = cm_bodies(rig.world)[0];
        cm_joints(rig.world)[i] = cm_joints(rig.world)[0];
        cm_joints(rig.world)[i].body_b = i;
    }
    rig.world->state.body_slots = rig.world->state.joint_slots = count;
    cm_rig_step(&rig, 1);
    only(&rig, &all, CAROM_LOG_LCP_ROWS_CUT, 0);
    cr_assert_eq(all.counts[CAROM_LOG_LCP_ROWS_CUT], count - 200000 / 6);
    cm_rig_close(&rig);
}

static uint32_t bad_row(void *context, const carom_world *world, carom_row *rows, uint32_t capacity)
{
    (void)world;
    (void)capacity;
    rows[0].body[0] = *(const carom_body_id *)context;
    rows[0].linear[0] = cm_vec(1.0f, 0.0f, 0.0f);
    rows[0].velocity = __builtin_nanf("");
    return 1;
}

Test(log, lcp_row_refused)
{
    cm_rig rig = open_rig(8, CAROM_SOLVER_LCP);
    heard all;
    listen(&rig, &all);
    cm_rig_sphere(&rig, cm_vec(5.0f, 3.0f, 0.0f), 0.5f);
    carom_body_id b = cm_rig_sphere(&rig, cm_vec(0.0f, 3.0f, 0.0f), 0.5f);
    const carom_row_source source = {.context = &b, .rows = bad_row};
    cr_assert_eq(carom_world_set_rows(rig.world, &source), CAROM_OK);
    cm_rig_step(&rig, 2);
    const carom_log_message *m = only(&rig, &all, CAROM_LOG_LCP_ROW_REFUSED, 0);
    cr_assert_eq(all.messages[CAROM_LOG_LCP_ROW_REFUSED], 2);
    cr_assert_eq(m->body.index, b.index);
    cm_rig_close(&rig);
}

Test(log, lcp_island_large)
{
    carom_world_def def = cm_rig_def(8);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.direct_rows = 12;
    cm_rig rig = cm_rig_open(&def, 0);
    heard all;
    listen(&rig, &all);
    cm_rig_plane(&rig);
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(5.0f, 0.5f, 0.0f), HALF);
    carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f, 0.0f), HALF);
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 1.5f, 0.0f), HALF);
    cm_rig_step(&rig, 1);
    const carom_log_message *m = only(&rig, &all, CAROM_LOG_LCP_ISLAND_LARGE, 0);
    cr_assert_eq(all.messages[CAROM_LOG_LCP_ISLAND_LARGE], 1, "one box alone has 12 rows");
    cr_assert_eq(m->body.index, b.index);
    cm_rig_close(&rig);
}

// A ball held twice at the same place, without softness.
Test(log, lcp_singular)
{
    carom_world_def def = cm_rig_def(8);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.epsilon = 0.0f;
    cm_rig rig = cm_rig_open(&def, 0);
    heard all;
    listen(&rig, &all);
    carom_joint_def joint = carom_default_joint_def();
    joint.type = CAROM_JOINT_BALL;
    joint.body_b = cm_rig_sphere(&rig, cm_vec(0.0f, 3.0f, 0.0f), 0.5f);
    joint.anchor = cm_vec(0.0f, 4.0f, 0.0f);
    cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    cm_rig_step(&rig, 10);
    cr_assert_eq(all.messages[CAROM_LOG_LCP_SINGULAR], 0);
    cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    cm_rig_step(&rig, 10);
    const carom_log_message *m = only(&rig, &all, CAROM_LOG_LCP_SINGULAR, 0);
    cr_assert_eq(all.messages[CAROM_LOG_LCP_SINGULAR], 10);
    cr_assert_eq(m->body.index, joint.body_b.index);
    cr_assert_eq(m->level, CAROM_LOG_DEBUG);
    cm_rig_close(&rig);
}

// Boxes that fall into a heap: where epsilon is 0 the rows of a face repeat each other, and steep
// friction leads pivoting in circles. Seeded, so that it is always the same heap.
static void heap(const carom_world_def *def, float friction, uint64_t seed, heard *all, cm_rig *rig)
{
    *rig = cm_rig_open(def, 0);
    listen(rig, all);
    cm_rig_plane(rig);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_BOX;
    shape.friction = friction;
    shape.half_extents = cm_vec(0.5f, 0.3f, 0.4f);
    for (uint32_t i = 0; i < 4; i++) {
        float r[7];
        for (int k = 0; k < 7; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            r[k] = (float)(seed >> 40) / 16777216.0f - 0.5f;
        }
        body.position = cm_vec(r[0], 0.6f + 0.5f * (float)i, r[1]);
        body.linear_velocity = cm_vec(2.0f * r[2], -5.0f, r[3]);
        body.orientation = cm_quat_normalize((carom_quat){r[3], r[4], r[5], r[6]});
        shape.density = i % 2 != 0 ? 1000.0f : 10.0f;
        cm_rig_body(rig, &body, &shape);
    }
    cm_rig_step(rig, 200);
}

Test(log, lcp_unsolved)
{
    carom_world_def def = cm_rig_def(64);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.epsilon = 0.0f;
    def.sleep = false;
    heard all;
    uint64_t unsolved = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        cm_rig rig;
        def.solver.lcp.epsilon = 0.0f;
        heap(&def, 2.0f, seed, &all, &rig);
        if (all.counts[CAROM_LOG_LCP_UNSOLVED] > 0) {
            only(&rig, &all, CAROM_LOG_LCP_UNSOLVED, 1u << CAROM_LOG_LCP_SINGULAR);
            unsolved++;
        }
        cm_rig_close(&rig);
        def.solver.lcp.epsilon = 1.0e-4f;
        heap(&def, 2.0f, seed, &all, &rig);
        cr_assert_eq(all.counts[CAROM_LOG_LCP_UNSOLVED], 0, "softness makes it solvable");
        cm_rig_close(&rig);
    }
    cr_assert_gt(unsolved, 0);
}

Test(log, lcp_pyramid_cycled)
{
    carom_world_def def = cm_rig_def(64);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.friction_model = CAROM_FRICTION_PYRAMID;
    def.sleep = false;
    heard all;
    cm_rig rig;
    heap(&def, 2.0f, 7, &all, &rig);
    cr_assert_eq(only(&rig, &all, CAROM_LOG_LCP_PYRAMID_CYCLED, 0)->level, CAROM_LOG_DEBUG);
    cm_rig_close(&rig);
}

// With a handler and without: the same bits. One that was taken away hears nothing.
Test(log, a_handler_changes_nothing)
{
    carom_world_def def = cm_rig_def(16);
    def.limits.contacts = 3;
    uint64_t hashes[2];
    heard all = {0};
    for (int with = 0; with < 2; with++) {
        cm_rig rig = cm_rig_open(&def, 0);
        if (with != 0) {
            listen(&rig, &all);
        }
        cm_rig_plane(&rig);
        for (int i = 0; i < 5; i++) {
            cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(1.2f * (float)i, 1.5f, 0.0f), HALF);
        }
        cm_rig_step(&rig, 60);
        hashes[with] = carom_world_hash(rig.world);
        cr_assert_eq(carom_world_set_log(rig.world, NULL), CAROM_OK);
        uint64_t before = all.counts[CAROM_LOG_CONTACTS_CUT];
        cm_rig_step(&rig, 10);
        cr_assert_eq(all.counts[CAROM_LOG_CONTACTS_CUT], before);
        cr_assert(with == 0 || before > 0);
        cm_rig_close(&rig);
    }
    cr_assert_eq(hashes[0], hashes[1]);
}

// Names are words of a status line, each its own; a number that is no code has none.
Test(log, names)
{
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        const char *name = carom_log_name((carom_log_code)i);
        cr_assert_gt(strlen(name), 0);
        cr_assert_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        cr_assert_gt(strlen(carom_log_text((carom_log_code)i)), 0);
        for (uint32_t k = 0; k < i; k++) {
            cr_assert_str_neq(name, carom_log_name((carom_log_code)k));
        }
    }
    cr_assert_str_eq(carom_log_name((carom_log_code)99), "");
    cr_assert_str_eq(carom_log_text((carom_log_code)99), "");
    cr_assert_eq(carom_world_set_log(NULL, NULL), CAROM_ERROR_ARGUMENT);
}
