// Goal: a manifold is kept while two bodies hardly move against each other, its separations follow
// their motion, its bounds go with the shapes' size, and it is state. Method: a stack at rest (rows
// keep what was found), the same stack pushed (they do not), kept points against those found anew,
// turns and shifts on both sides of each bound, and rewinds across the push by save and by encode.
// What kept manifolds do to scenes is in test_recycle_scenes.c.
#include "shared/sim/body/shape.h"
#include "shared/sim/collide/recycle.h"
#include "shared/sim/collide/collide.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STACK 6u

static cm_rig open_stack(void)
{
    carom_world_def def = cm_rig_def(STACK + 1);
    def.sleep = false; // contacts that rest are not looked at
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    for (uint32_t i = 0; i < STACK; i++) {
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f + (float)i, 0.0f),
                   cm_vec(0.5f, 0.5f, 0.5f));
    }
    return rig;
}

static uint32_t count_kept(cm_rig *rig)
{
    cm_kept_manifold before[4 * STACK];
    uint32_t count = rig->world->state.contact_count, kept = 0;
    cr_assert_leq(count, 4 * STACK);
    memcpy(before, cm_rows(rig->world, CM_SECTION_manifold), count * sizeof before[0]);
    cm_rig_step(rig, 1);
    for (uint32_t i = 0; i < count && i < rig->world->state.contact_count; i++) {
        const cm_kept_manifold *now = cm_rows(rig->world, CM_SECTION_manifold);
        kept += memcmp(&before[i], &now[i], sizeof now[i]) == 0;
    }
    return kept;
}

static void push(cm_rig *rig)
{
    carom_body_id top = carom_world_body_at(rig->world, STACK);
    carom_body_set_velocity(rig->world, top, cm_vec(3.0f, 0.0f, 1.0f), cm_vec(0.0f, 4.0f, 1.0f));
}

Test(recycle, rests_are_kept_and_pushes_are_not)
{
    cm_rig rig = open_stack();
    cm_rig_step(&rig, 120);
    cr_assert_eq(rig.world->state.contact_count, STACK);
    cr_assert_eq(count_kept(&rig), STACK);
    push(&rig);
    cr_assert_lt(count_kept(&rig), STACK);
    cm_rig_close(&rig);
}

// Whether what was kept of two equal boxes holds, asked in the last of eight places: the others ask
// of a pair that has not moved.
typedef struct remembered {
    cm_kept_manifold manifold;
    cm_kept_point points[CM_MANIFOLD_MAX];
} remembered;

static bool recycle(const cm_motion *a, const cm_motion *b, const cm_shape *box, uint32_t points,
                    remembered *kept, float separation[CM_MANIFOLD_MAX])
{
    const uint32_t last = CM_RECYCLE_MAX - 1;
    cm_motion motions[3] = {{.orientation = cm_quat_identity()}, *a, *b};
    cm_kept_manifold rows[2] = {
        {.orientation_a = cm_quat_identity(), .orientation_b = cm_quat_identity()}, kept->manifold};
    cm_kept_point of[2 * CM_MANIFOLD_MAX] = {0};
    cm_recycle_pairs pairs = {.count = CM_RECYCLE_MAX};
    float found[CM_MANIFOLD_MAX][CM_RECYCLE_MAX];
    for (uint32_t i = 0; i < CM_RECYCLE_MAX; i++) {
        pairs.row[i] = i == last;
        pairs.point[i] = i == last ? CM_MANIFOLD_MAX : 0;
        pairs.a[i] = i == last ? 1 : 0;
        pairs.b[i] = i == last ? 2 : 0;
        pairs.points[i] = (float)points;
        pairs.reach[i] = cm_shape_reach(box);
        pairs.inner_radius[i] = cm_shape_inner_radius(box);
    }
    memcpy(of + CM_MANIFOLD_MAX, kept->points, sizeof kept->points);
    uint32_t holding = cm_recycle(motions, rows, of, &pairs, 1.0f / 60.0f, found);
    cr_assert_eq(holding & 0x7fu, 0x7fu, "what does not move is kept");
    for (uint32_t k = 0; k < points; k++) {
        separation[k] = found[k][last];
    }
    kept->manifold = rows[1];
    memcpy(kept->points, of + CM_MANIFOLD_MAX, sizeof kept->points);
    return holding >> last;
}

Test(recycle, carried_points_are_those_found_anew)
{
    cm_shape box = {.type = CAROM_SHAPE_BOX, .size = {0.5f, 0.5f, 0.5f}};
    cm_motion a = {.orientation = cm_quat_identity()}, b = a;
    b.position = cm_vec(0.1f, 0.995f, 0.05f);
    cm_manifold found, carried;
    float separation[CM_MANIFOLD_MAX];
    remembered kept = {0};
    cm_collide_shapes(&box, a.position, a.orientation, &box, b.position, b.orientation, 0.02f,
                      &found);
    cr_assert_eq(found.point_count, 4);
    cm_recycle_keep(&a, &b, &found, &kept.manifold, kept.points);
    b.position = cm_add(b.position, cm_vec(0.0003f, -0.0004f, 0.0f));
    carom_quat tilt = {0.0002f, 0.0f, 0.0001f, 1.0f};
    b.orientation = cm_quat_normalize(tilt);
    cr_assert(recycle(&a, &b, &box, 4, &kept, separation));
    cm_recycle_take(&kept.manifold, kept.points, separation, 4, &carried);
    cm_collide_shapes(&box, a.position, a.orientation, &box, b.position, b.orientation, 0.02f,
                      &found);
    float low = 1.0f, low_carried = 1.0f;
    for (uint32_t i = 0; i < 4; i++) {
        low = cm_min(low, found.points[i].separation);
        low_carried = cm_min(low_carried, carried.points[i].separation);
    }
    cr_assert_float_eq(low_carried, low, 1.0e-4f, "%g, anew %g", (double)low_carried, (double)low);
    b.position.y += 0.011f;
    cr_assert_not(recycle(&a, &b, &box, 4, &kept, separation));
}

// Two boxes, one on the other, of edge `edge`: found, then both turned by `both` about z, then b by
// `alone` besides and shifted by `shift` along x.
static bool still_holds(float edge, float both, float alone, float shift)
{
    float half = 0.5f * edge;
    cm_shape box = {.type = CAROM_SHAPE_BOX, .size = {half, half, half}};
    cm_motion a = {.orientation = cm_quat_identity()}, b = a;
    b.position = cm_vec(0.1f * edge, 0.999f * edge, 0.0f);
    cm_manifold manifold;
    float separation[CM_MANIFOLD_MAX];
    remembered kept = {0};
    cm_collide_shapes(&box, a.position, a.orientation, &box, b.position, b.orientation, 0.02f,
                      &manifold);
    cm_recycle_keep(&a, &b, &manifold, &kept.manifold, kept.points);
    a.orientation = cm_rig_turn_z(both);
    b.orientation = cm_rig_turn_z(both + alone);
    b.position = cm_rotate(a.orientation, b.position);
    b.position.x += shift;
    bool holds = recycle(&a, &b, &box, manifold.point_count, &kept, separation);
    cm_recycle_take(&kept.manifold, kept.points, separation, manifold.point_count, &manifold);
    if (holds && alone == 0.0f && shift == 0.0f) {
        carom_vec3 up = cm_rotate(a.orientation, cm_vec(0.0f, 1.0f, 0.0f));
        cr_assert_gt(cm_dot(up, manifold.normal), cosf(0.0101f), "what turns takes it along");
        for (uint32_t i = 0; i < manifold.point_count; i++) {
            cr_assert_float_eq(manifold.points[i].separation, -0.001f * edge, 1.0e-6f,
                               "what turns as one does not part");
        }
    }
    return holds;
}

Test(recycle, bounds)
{
    cr_assert(still_holds(1.0f, 0.0f, 0.0f, 0.0f));
    cr_assert(still_holds(1.0f, 0.004f, 0.0f, 0.0f));
    cr_assert(still_holds(1.0f, 0.015f, 0.0f, 0.0f));
    cr_assert(still_holds(1.0f, 0.5f, 0.0f, 0.0f));
    cr_assert(still_holds(1.0f, 0.0f, 0.005f, 0.0f));
    cr_assert_not(still_holds(1.0f, 0.0f, 0.01f, 0.0f));
    cr_assert(still_holds(1.0f, 0.0f, 0.0f, 0.009f));
    cr_assert_not(still_holds(1.0f, 0.0f, 0.0f, 0.011f));
    cr_assert(still_holds(0.05f, 0.015f, 0.0f, 0.0f));
    cr_assert(still_holds(0.05f, 0.0f, 0.0f, 0.0004f));
    cr_assert_not(still_holds(0.05f, 0.0f, 0.0f, 0.0006f), "dice are small");
    cr_assert_not(still_holds(0.05f, 0.0f, 0.01f, 0.0f));
    cr_assert(still_holds(20.0f, 0.0f, 0.0f, 0.009f));
    cr_assert_not(still_holds(20.0f, 0.0f, 0.0f, 0.011f), "nor beyond the margin");
}

static void go_on(cm_rig *rig)
{
    for (uint32_t tick = 0; tick < 90; tick++) {
        if (tick == 20) {
            push(rig);
        }
        cm_rig_step(rig, 1);
    }
}

Test(recycle, what_is_kept_is_state)
{
    cm_rig rig = open_stack(), other = open_stack();
    cm_rig_step(&rig, 60);
    size_t size = carom_world_save_size(rig.world), coded = carom_world_encode_size(rig.world);
    void *image = malloc(size), *bytes = malloc(coded);
    cr_assert_eq(carom_world_save(rig.world, image, size), size);
    cr_assert_eq(carom_world_encode(rig.world, bytes, coded), coded);
    go_on(&rig);
    uint64_t hash = carom_world_hash(rig.world);
    cr_assert_eq(carom_world_restore(other.world, image, size), CAROM_OK);
    go_on(&other);
    cr_assert_eq(carom_world_hash(other.world), hash);
    cr_assert_eq(carom_world_decode(other.world, bytes, coded), CAROM_OK);
    go_on(&other);
    cr_assert_eq(carom_world_hash(other.world), hash);
    free(image);
    free(bytes);
    cm_rig_close(&rig);
    cm_rig_close(&other);
}

// Kept points would turn away from the surface, a kept normal would drive it.
static float speed_after_rolling(bool plane_first)
{
    carom_world_def def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&def, 0);
    if (plane_first) {
        cm_rig_plane(&rig);
    }
    carom_body_id ball = cm_rig_sphere(&rig, cm_vec(0.0f, 0.25f, 0.0f), 0.25f);
    if (!plane_first) {
        cm_rig_plane(&rig);
    }
    carom_body_set_velocity(rig.world, ball, cm_vec(0.4f, 0.0f, 0.0f), cm_vec(0.0f, 0.0f, -1.6f));
    cm_rig_step(&rig, 600);
    float speed = cm_rig_get(&rig, ball).linear_velocity.x;
    cm_rig_close(&rig);
    return speed;
}

Test(recycle, what_rolls_is_not_driven)
{
    cr_assert_float_eq(speed_after_rolling(true), 0.4f, 0.004f, "%g",
                       (double)speed_after_rolling(true));
    cr_assert_float_eq(speed_after_rolling(false), 0.4f, 0.004f, "%g",
                       (double)speed_after_rolling(false));
}
