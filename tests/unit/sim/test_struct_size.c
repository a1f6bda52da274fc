// Goal: a def that carom_default_*_def did not make, or that is another library's, is refused by
// the name of its size before any other field of it is read, and nothing happens. Method: each def
// with no size, and with one less and one more than its own.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "carom/check.h"
#include "carom/joint.h"
#include "tests/unit/sim/world_fixture.h"

static void note(void *context, const carom_error *finding)
{
    *(carom_error *)context = *finding;
}

Test(struct_size, another_one_is_refused_by_its_name)
{
    static const int32_t off[] = {INT32_MIN, -1, 1};
    carom_world *world = fixture_world(8, 8, 8);
    uint64_t hash = carom_world_hash(world);
    for (uint32_t i = 0; i < 3; i++) {
        carom_error error = {CAROM_OK, "", "", 0}, found = error;
        const carom_findings findings = {&found, note};
        carom_world_def def = carom_default_world_def();
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        carom_joint_def joint = carom_default_joint_def();
        carom_world *made = NULL;
        static _Alignas(64) uint8_t memory[64];
#define SIZE(of) (off[i] == INT32_MIN ? 0u : (uint32_t)((int32_t)sizeof(of) + off[i]))
        def.error = &error;
        def.struct_size = SIZE(def);
        cr_assert_eq(carom_world_size(&def), 0);
        cr_assert_eq(carom_world_create(&def, memory, sizeof memory, &made), CAROM_ERROR_ARGUMENT);
        // Of a def that is shorter, where its `error` was is not known.
        cr_assert_str_eq(error.field, off[i] == -1 ? "" : "struct_size");
        cr_assert_not(carom_check_world(&def, &findings));
        cr_assert_str_eq(found.field, "struct_size");
        body.struct_size = SIZE(body);
        cr_assert_eq(carom_body_create(world, &body, &shape, 1, NULL), CAROM_ERROR_ARGUMENT);
        cr_assert_str_eq(carom_last_error(world).field, "struct_size");
        cr_assert_str_eq(carom_last_error(world).expected,
                         "what carom_default_body_def of this library sets");
        body.struct_size = sizeof body;
        shape.struct_size = SIZE(shape);
        cr_assert_eq(carom_body_create(world, &body, &shape, 1, NULL), CAROM_ERROR_ARGUMENT);
        cr_assert_str_eq(carom_last_error(world).field, "struct_size");
        cr_assert_eq(carom_last_error(world).shape, 0, "of which shape");
        joint.struct_size = SIZE(joint);
        cr_assert_eq(carom_joint_create(world, &joint, NULL), CAROM_ERROR_ARGUMENT);
        cr_assert_str_eq(carom_last_error(world).field, "struct_size");
        cr_assert_str_eq(carom_last_error(world).expected,
                         "what carom_default_joint_def of this library sets");
#undef SIZE
    }
    cr_assert_eq(carom_world_hash(world), hash);
    free(world);
}
