// Goal: carom_volume_meet is the source's contact: the worked cube, equal and opposite wrenches,
// and what is refused is refused without a trace. Method: the figure of the header; random pieces,
// whose two wrenches must balance about one point; each bad argument by itself.
#include "carom/volume.h"
#include "shared/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static carom_volume_piece piece(carom_shape_type type, double x, double y, double z)
{
    carom_volume_piece p = {.type = type, .size = {x, y, z, 0.0}, .orientation = {0, 0, 0, 1}};
    return p;
}

static const carom_volume_law LAW = {1000.0, 50.0, 1000.0, 50.0, 0.5, 0.6};

static void cube_on_floor(carom_volume_piece pieces[2])
{
    pieces[0] = piece(CAROM_SHAPE_BOX, 1, 1, 1);
    pieces[0].position.y = pieces[0].center.y = 0.99;
    pieces[0].velocity = (carom_dvec3){0.3, -0.1, 0.0};
    pieces[1] = piece(CAROM_SHAPE_PLANE, 0, 1, 0);
}

Test(volume_meet, cube_over_the_floor)
{
    carom_volume_piece pieces[2];
    carom_volume_memory memory = {0};
    carom_volume_touch touch;
    void *work = malloc(carom_volume_work_size());
    cube_on_floor(pieces);
    cr_assert_eq(carom_volume_meet(pieces, &LAW, NULL, 0.0, 16, work, &memory, &touch), CAROM_OK);
    cr_assert(touch.touching);
    cr_assert_float_eq(touch.spring.force.y, 40.0, 1e-12);
    cr_assert_float_eq(touch.damper.force.y, 20.0, 1e-12);
    cr_assert_float_eq(touch.area, 4.0, 1e-12);
    cr_assert_float_eq(touch.friction.force.x, -30.0, 1e-12, "mu times 60 N");
    cr_assert_float_eq(touch.total[0].force.y, 60.0, 1e-12);
    cr_assert_eq(memory.state, CAROM_VOLUME_KINETIC);
    pieces[0].velocity = (carom_dvec3){0.0, 0.3, 0.0};
    cr_assert_eq(carom_volume_meet(pieces, &LAW, NULL, 0.0, 16, work, &memory, &touch), CAROM_OK);
    cr_assert_eq(touch.total[0].force.y, 0.0, "no adhesion");
    pieces[0].position.y = 2.5;
    cr_assert_eq(carom_volume_meet(pieces, &LAW, NULL, 0.0, 16, work, &memory, &touch), CAROM_OK);
    cr_assert_not(touch.touching);
    cr_assert_float_eq(touch.distance, 1.5, 1e-12);
    cr_assert_eq(memory.state, CAROM_VOLUME_NONE, "what is apart forgets");
    free(work);
}

static double draw(cm_rng *rng)
{
    return (double)cm_rng_range(rng, -0.5f, 0.5f);
}

static carom_dvec3 draw_vec(cm_rng *rng)
{
    carom_dvec3 v;
    v.x = draw(rng);
    v.y = draw(rng);
    v.z = draw(rng);
    return v;
}

static carom_dvec3 about_origin(const carom_volume_piece *p, const carom_wrench *w)
{
    carom_dvec3 r = p->center, f = w->force, t = w->torque;
    return (carom_dvec3){t.x + r.y * f.z - r.z * f.y, t.y + r.z * f.x - r.x * f.z,
                         t.z + r.x * f.y - r.y * f.x};
}

Test(volume_meet, what_one_gets_the_other_gives)
{
    static const carom_shape_type TYPES[] = {CAROM_SHAPE_SPHERE, CAROM_SHAPE_CAPSULE,
                                             CAROM_SHAPE_BOX, CAROM_SHAPE_CYLINDER};
    cm_rng rng;
    cm_rng_seed(&rng, 11);
    void *work = malloc(carom_volume_work_size());
    int touching = 0;
    for (int round = 0; round < 100; round++) {
        carom_volume_piece pieces[2];
        carom_volume_memory memory = {0};
        carom_volume_touch touch;
        for (int i = 0; i < 2; i++) {
            pieces[i] = piece(TYPES[(round + i * (round / 4)) % 4], 0.6, 0.7, 0.8);
            pieces[i].position = draw_vec(&rng);
            pieces[i].center = draw_vec(&rng);
            pieces[i].velocity = draw_vec(&rng);
            pieces[i].spin = draw_vec(&rng);
            pieces[i].orientation[0] = draw(&rng);
        }
        cr_assert_eq(carom_volume_meet(pieces, &LAW, NULL, 0.01, 16, work, &memory, &touch),
                     CAROM_OK);
        touching += touch.touching;
        carom_dvec3 a = about_origin(&pieces[0], &touch.total[0]);
        carom_dvec3 b = about_origin(&pieces[1], &touch.total[1]);
        cr_assert_eq(touch.total[0].force.x, -touch.total[1].force.x);
        cr_assert_lt(fabs(a.x + b.x) + fabs(a.y + b.y) + fabs(a.z + b.z), 1e-9, "round %d", round);
    }
    cr_assert_gt(touching, 50);
    free(work);
}

Test(volume_meet, bad_arguments_leave_no_trace)
{
    carom_volume_piece good[2], bad[2];
    carom_volume_law law = LAW;
    carom_volume_memory memory = {CAROM_VOLUME_STATIC, {1, 2, 3}, 4}, before = memory;
    carom_volume_touch touch;
    memset(&touch, 0x5a, sizeof touch);
    carom_volume_touch untouched = touch;
    void *work = malloc(carom_volume_work_size());
    const carom_dvec3 none = {0, 0, 0};
    cube_on_floor(good);
#define REFUSES(result, pieces, law, normal, dt, segments)                                         \
    cr_assert_eq(carom_volume_meet(pieces, law, normal, dt, segments, work, &memory, &touch),      \
                 result)
    REFUSES(CAROM_ERROR_ARGUMENT, NULL, &LAW, NULL, 0, 16);
    REFUSES(CAROM_ERROR_ARGUMENT, good, NULL, NULL, 0, 16);
    REFUSES(CAROM_ERROR_ARGUMENT, good, &LAW, &none, 0, 16);
    REFUSES(CAROM_ERROR_ARGUMENT, good, &LAW, NULL, -1, 16);
    REFUSES(CAROM_ERROR_NOT_FINITE, good, &LAW, NULL, NAN, 16);
    REFUSES(CAROM_ERROR_ARGUMENT, good, &LAW, NULL, 0, CAROM_SEGMENTS_MIN - 1);
    REFUSES(CAROM_ERROR_ARGUMENT, good, &LAW, NULL, 0, CAROM_SEGMENTS_MAX + 1);
    law.friction_static = 0.4;
    REFUSES(CAROM_ERROR_ARGUMENT, good, &law, NULL, 0, 16);
    law.stiffness = INFINITY;
    REFUSES(CAROM_ERROR_NOT_FINITE, good, &law, NULL, 0, 16);
    bad[0] = bad[1] = good[1];
    REFUSES(CAROM_ERROR_ARGUMENT, bad, &LAW, NULL, 0, 16);
    bad[0] = piece(CAROM_SHAPE_HULL, 0, 0, 0);
    REFUSES(CAROM_ERROR_ARGUMENT, bad, &LAW, NULL, 0, 16);
    bad[0] = piece(CAROM_SHAPE_CAPSULE, 1, 0, 0);
    REFUSES(CAROM_ERROR_ARGUMENT, bad, &LAW, NULL, 0, 16);
    bad[0] = good[0];
    bad[0].orientation[3] = 0.0;
    REFUSES(CAROM_ERROR_ARGUMENT, bad, &LAW, NULL, 0, 16);
    bad[0].velocity.x = NAN;
    REFUSES(CAROM_ERROR_NOT_FINITE, bad, &LAW, NULL, 0, 16);
    cr_assert_eq(memcmp(&memory, &before, sizeof memory), 0);
    cr_assert_eq(memcmp(&touch, &untouched, sizeof touch), 0);
    free(work);
}
