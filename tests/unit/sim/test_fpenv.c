// Goal: the caller's floating-point environment neither shows in the state nor is changed by a
// call. Method: the same heap, stepped with every rounding mode and (x86) with denormals flushed to
// zero on entry, gives the same hashes; afterwards the control register is as the caller left it. A
// kinematic body creeps through the denormal numbers, and a last impulse is one, so that flushing
// would show.
#include "shared/base/fpenv.h"
#include "shared/sim/state/image.h"
#include "tests/unit/sim/world_fixture.h"

#include <fenv.h>

static uint64_t run(uint32_t ticks, uint64_t *between)
{
    carom_world *world = fixture_world(32, 64, 256);
    fixture_fill(world, 10, 9);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id creeping, pushed;
    body.position = cm_vec(50.0f, 50.0f, 50.0f);
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, &pushed), CAROM_OK);
    body.type = CAROM_BODY_KINEMATIC;
    body.position = cm_vec(0.0f, 90.0f, 0.0f);
    body.linear_velocity = cm_vec(1.0e-37f, 0.0f, 3.0e-39f);
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, &creeping), CAROM_OK);
    for (uint32_t i = 0; i < ticks; i++) {
        carom_world_step(world);
        if (i == ticks / 2) {
            *between = carom_world_hash(world);
        }
    }
    carom_body_set_velocity(world, pushed, cm_vec(0, 0, 0), cm_vec(0, 0, 0));
    carom_body_apply_impulse(world, pushed, cm_vec(1.0e-36f, 0, 0), cm_vec(50, 50, 50));
    // By bits: under DAZ a denormal compares equal to zero.
    uint32_t x, z;
    memcpy(&x, &cm_motions(world)[pushed.index].linear_velocity.x, 4);
    memcpy(&z, &cm_motions(world)[creeping.index].position.z, 4);
    cr_assert(x > 0 && x < 0x00800000u);
    cr_assert(z > 0 && z < 0x00800000u);
    uint64_t hash = carom_world_hash(world);
    free(world);
    return hash;
}

Test(fpenv, rounding_on_entry_changes_nothing)
{
    uint64_t between, expected_between;
    uint64_t expected = run(100, &expected_between);
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        // Only the world's calls run under the mode: the fixture's own arithmetic is not part of
        // it.
        carom_world *world = fixture_world(32, 64, 256);
        fixture_fill(world, 10, 9);
        carom_world *same = fixture_world(32, 64, 256);
        fixture_fill(same, 10, 9);
        for (uint32_t tick = 0; tick < 60; tick++) {
            fesetround(modes[i]);
            carom_world_step(world);
            cr_assert_eq(fegetround(), modes[i]);
            fesetround(FE_TONEAREST);
            carom_world_step(same);
        }
        cr_assert_eq(carom_world_hash(world), carom_world_hash(same), "mode %d", modes[i]);
        free(world);
        free(same);
    }
    cr_assert_eq(run(100, &between), expected);
    cr_assert_eq(between, expected_between);
}

#if defined(__x86_64__)
Test(fpenv, flushed_denormals_on_entry_change_nothing)
{
    uint64_t between, expected_between;
    uint64_t expected = run(100, &expected_between);
    unsigned saved = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(saved | 0x8040u); // FTZ and DAZ
    uint64_t flushed = run(100, &between);
    unsigned after = __builtin_ia32_stmxcsr() & ~0x3fu;
    __builtin_ia32_ldmxcsr(saved);
    cr_assert_eq(flushed, expected);
    cr_assert_eq(between, expected_between);
    cr_assert_eq(after, (saved | 0x8040u) & ~0x3fu);
}
#endif
