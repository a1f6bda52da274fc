// Goal: a save holds each row of bodies and shapes once where rows repeat each other, and loses
// nothing, whatever calls and steps changed the rows. Method: 1,000 random calls of everything that
// writes a row, in worlds of each solver, over bodies that are mostly alike; after each, the save
// goes into a world that knows nothing and into one that went another way, and both must be the
// world; the save of the world that knows nothing is the same bytes. Images that are cut short or
// whose bits are changed are refused, or read within their bounds.
#include "shared/sim/state/fields.h"
#include "shared/sim/state/repeat.h"
#include "tests/unit/sim/world_fixture.h"

#define BODIES 150
#define CALLS  1000

static carom_world *open_world(carom_solver_type solver)
{
    return fixture_world_of(solver, BODIES, BODIES + 64, 1024);
}

static void make(carom_world *world, cm_rng *rng)
{
    carom_body_def def = carom_default_body_def();
    carom_shape_def shapes[2] = {carom_default_shape_def(), carom_default_shape_def()};
    uint32_t count = cm_rng_below(rng, 16) == 0 ? 2 : 1;
    def.position = cm_vec(cm_rng_range(rng, -20.0f, 20.0f), cm_rng_range(rng, 0.0f, 20.0f),
                          cm_rng_range(rng, -20.0f, 20.0f));
    def.type = cm_rng_below(rng, 16) == 0 ? CAROM_BODY_KINEMATIC : CAROM_BODY_DYNAMIC;
    def.report_force = cm_rng_below(rng, 32) == 0;
    carom_body_create(world, &def, shapes, count, NULL);
}

static void change_body(carom_world *world, cm_rng *rng, carom_body_id id)
{
    carom_vec3 v = cm_vec(cm_rng_range(rng, -3.0f, 3.0f), 0.0f, 1.0f), zero = cm_vec(0, 0, 0);
    switch (cm_rng_below(rng, 12)) {
    case 0:
        carom_body_set_force(world, id, v, zero);
        break;
    case 1:
        carom_body_set_force(world, id, zero, zero);
        break;
    case 2:
        carom_body_apply_force(world, id, v, v);
        break;
    case 3:
        carom_body_set_type(world, id, (carom_body_type)cm_rng_below(rng, 3));
        break;
    case 4:
        carom_body_set_user_data(world, id, cm_rng_below(rng, 2));
        break;
    case 5:
        carom_body_set_damping(world, id, (float)cm_rng_below(rng, 2), 0.0f);
        break;
    case 6:
        carom_body_set_gravity_scale(world, id, (float)cm_rng_below(rng, 2));
        break;
    case 7:
        carom_body_set_mass(world, id, 1.0f + (float)cm_rng_below(rng, 2));
        break;
    case 8:
        carom_body_rest(world, id);
        break;
    case 9:
        carom_body_set_velocity(world, id, v, zero);
        break;
    case 10:
        carom_body_set_pose(world, id, cm_vec(0.0f, 30.0f, v.x), cm_quat_identity());
        break;
    default:
        carom_body_destroy(world, id);
    }
}

static void change_shape(carom_world *world, cm_rng *rng, carom_body_id id)
{
    carom_shape_id shape;
    if (carom_body_shapes(world, id, &shape, 1) > 0) {
        if (cm_rng_below(rng, 2) == 0) {
            carom_shape_set_surface(world, shape, (float)cm_rng_below(rng, 2), 0.0f);
        } else {
            carom_shape_set_filter(world, shape, 1, UINT32_MAX, (int32_t)cm_rng_below(rng, 2));
        }
    }
}

// One body to another world's bytes and back: that is what a client does with what it is told.
static void send_body(carom_world *world, carom_body_id id)
{
    uint8_t bytes[2048];
    size_t size = carom_world_encode_body(world, id, bytes, sizeof bytes);
    if (size > 0) {
        carom_world_decode_body(world, bytes, size, NULL);
    }
}

static void call(carom_world *world, cm_rng *rng)
{
    carom_body_id id = carom_world_body_at(world, cm_rng_below(rng, BODIES));
    switch (cm_rng_below(rng, 8)) {
    case 0:
        for (uint32_t i = cm_rng_below(rng, 8); i > 0; i--) {
            make(world, rng);
        }
        break;
    case 1:
        carom_world_step(world);
        break;
    case 2:
        change_shape(world, rng, id);
        break;
    case 3:
        send_body(world, id);
        break;
    default:
        change_body(world, rng, id);
    }
}

static void check_same(const carom_world *world, const carom_world *other)
{
    cm_difference difference;
    cr_assert_not(cm_world_difference(world, other, &difference), "%s.%s of row %u",
                  difference.section, difference.field, difference.row);
    cr_assert_eq(carom_world_hash(world), carom_world_hash(other));
}

Test(repeat, nothing_is_lost_whatever_changed)
{
    for (int solver = CAROM_SOLVER_SOFT; solver <= CAROM_SOLVER_VOLUME; solver++) {
        carom_world *world = open_world((carom_solver_type)solver);
        carom_world *other = open_world((carom_solver_type)solver);
        size_t bound = carom_world_save_bound(world), size = 0;
        char *image = malloc(bound), *again = malloc(bound);
        cm_rng rng;
        cm_rng_seed(&rng, 90 + (uint64_t)solver);
        for (uint32_t i = 0; i < CALLS; i++) {
            call(world, &rng);
            if (i % 7 == 0) {
                call(other, &rng); // another way, from where it was
            }
            size = carom_world_save(world, image, bound);
            cr_assert_gt(size, 0);
            cr_assert_eq(size, carom_world_save_size(world));
            cr_assert_eq(carom_world_restore(other, image, size), CAROM_OK);
            check_same(world, other);
            if (i % 16 == 0) {
                carom_world *fresh = open_world((carom_solver_type)solver);
                cr_assert_eq(carom_world_restore(fresh, image, size), CAROM_OK);
                check_same(world, fresh);
                cr_assert_eq(carom_world_save(fresh, again, bound), size);
                cr_assert_arr_eq(image, again, size);
                free(fresh);
            }
        }
        free(image);
        free(again);
        free(world);
        free(other);
    }
}

Test(repeat, bodies_that_are_alike_are_saved_once)
{
    carom_world *world = open_world(CAROM_SOLVER_SOFT);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    for (uint32_t i = 0; i < BODIES; i++) {
        def.position.x = 3.0f * (float)i;
        cr_assert_eq(carom_body_create(world, &def, &shape, 1, NULL), CAROM_OK);
    }
    // Three pages, and the first row.
    uint64_t size = cm_repeat_size(world, CM_SECTION_body);
    cr_assert_eq(size, 3 * 8 + sizeof(cm_body));
    cr_assert_eq(cm_repeat_size(world, CM_SECTION_shape), 3 * 8 + sizeof(cm_shape));
    carom_body_set_user_data(world, carom_world_body_at(world, 100), 1);
    cr_assert_eq(cm_repeat_size(world, CM_SECTION_body), size + 2 * sizeof(cm_body));
    carom_body_set_user_data(world, carom_world_body_at(world, 100), 0);
    cr_assert_eq(cm_repeat_size(world, CM_SECTION_body), size);
    carom_world_step(world); // poses are no part of it
    cr_assert_eq(cm_repeat_size(world, CM_SECTION_body), size);
    free(world);
}

static carom_world *alike(uint32_t bodies, uint64_t user_data)
{
    carom_world *world = open_world(CAROM_SOLVER_SOFT);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    def.user_data = user_data;
    for (uint32_t i = 0; i < bodies; i++) {
        cr_assert_eq(carom_body_create(world, &def, &shape, 1, NULL), CAROM_OK);
    }
    return world;
}

static void go_to(carom_world *world, const carom_world *to)
{
    size_t size = carom_world_save_size(to);
    void *image = malloc(size);
    cr_assert_eq(carom_world_save(to, image, size), size);
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_OK);
    check_same(world, to);
    free(image);
}

// Rows of the second page repeat the last one of the first, which another state changes that has no
// second page.
Test(repeat, rows_follow_when_the_page_before_them_changes)
{
    carom_world *world = open_world(CAROM_SOLVER_SOFT);
    carom_world *first = alike(BODIES, 1), *few = alike(CM_PAGE_ROWS, 2), *last = alike(BODIES, 2);
    go_to(world, first);
    go_to(world, few);
    go_to(world, last);
    go_to(world, first);
    free(world);
    free(first);
    free(few);
    free(last);
}

Test(repeat, images_that_are_not_sound_are_refused)
{
    carom_world *world = open_world(CAROM_SOLVER_SOFT), *other = open_world(CAROM_SOLVER_SOFT);
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    for (uint32_t i = 0; i < 70; i++) {
        make(world, &rng);
    }
    size_t size = carom_world_save_size(world);
    char *image = malloc(size);
    cr_assert_eq(carom_world_save(world, image, size), size);
    uint64_t hash = carom_world_hash(other);
    for (size_t cut = 0; cut < size; cut++) {
        char *exact = malloc(cut + 1); // so that a reader of more is seen by the sanitizers
        memcpy(exact, image, cut);
        cr_assert_neq(carom_world_restore(other, exact, cut), CAROM_OK);
        free(exact);
    }
    size_t words = 32 + sizeof(cm_world_state) + 70 * sizeof(cm_motion);
    const uint32_t bits[] = {0, 1, 64, 64 + 6, 127}; // row 0, row 1, row 64, above the rows
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        image[words + bits[i] / 8] = (char)(image[words + bits[i] / 8] ^ 1 << bits[i] % 8);
        cr_assert_eq(carom_world_restore(other, image, size), CAROM_ERROR_CORRUPT, "%u", bits[i]);
        image[words + bits[i] / 8] = (char)(image[words + bits[i] / 8] ^ 1 << bits[i] % 8);
    }
    cr_assert_eq(carom_world_hash(other), hash);
    cr_assert_eq(carom_world_restore(other, image, size), CAROM_OK);
    check_same(world, other);
    free(image);
    free(world);
    free(other);
}
