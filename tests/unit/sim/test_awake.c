// Goal: what is known of bodies, contacts and boxes from step to step (state/awake.h, resting.h,
// collide/rest.h) never says anything else than the rows do, and a step goes over what is awake
// alone. Method: a yard of small stacks under 600 ticks of random calls, some thousand in all, most
// of it asleep most of the time; every few ticks each body and contact is held against the
// definition, and the world is saved into one that knows nothing, into one that knows another time
// of itself, and decoded into a third: all must step on alike, bit for bit. The hash, which keeps
// those of rows that did not change, is asked now and then and must be that of the rows.
#include "shared/sim/inspect.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/fields.h"
#include "shared/sim/state/resting.h"
#include "tests/unit/sim/world_fixture.h"

#define STACKS 40u
#define TICKS  600u
#define AHEAD  4u

static carom_body_id add_box(carom_world *world, carom_body_type type, carom_vec3 position)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id = {0, 0};
    body.type = type;
    body.position = position;
    body.report_force = position.y > 1.9f; // of what rests a step writes this alone
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.25f, 0.25f, 0.25f);
    carom_body_create(world, &body, &shape, 1, &id);
    return id;
}

static carom_world *open_yard(void)
{
    carom_world *world = fixture_world_of(CAROM_SOLVER_SOFT, 5 * STACKS, 5 * STACKS, 2048);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    shape.type = CAROM_SHAPE_PLANE;
    shape.normal = cm_vec(0.0f, 1.0f, 0.0f);
    carom_body_create(world, &body, &shape, 1, NULL);
    for (uint32_t i = 0; i < STACKS; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            add_box(world, CAROM_BODY_DYNAMIC,
                    cm_vec(1.5f * (float)(i % 8), 0.25f + 0.5f * (float)k, 1.5f * (float)(i / 8)));
        }
    }
    add_box(world, CAROM_BODY_KINEMATIC, cm_vec(-2.0f, 0.3f, 0.0f));
    return world;
}

static void call(carom_world *world, cm_rng *rng)
{
    carom_body_id id = carom_world_body_at(world, cm_rng_below(rng, 2 * STACKS + 8));
    carom_vec3 v = cm_vec(cm_rng_range(rng, -4.0f, 4.0f), cm_rng_range(rng, 0.0f, 2.0f),
                          cm_rng_range(rng, -4.0f, 4.0f));
    carom_vec3 at = cm_vec(cm_rng_range(rng, 0.0f, 10.0f), cm_rng_range(rng, 0.3f, 2.0f),
                           cm_rng_range(rng, 0.0f, 8.0f));
    switch (cm_rng_below(rng, 11)) {
    case 0:
        carom_body_set_pose(world, id, at, cm_quat_identity());
        break;
    case 1:
        carom_body_set_type(world, id, (carom_body_type)cm_rng_below(rng, 3));
        break;
    case 2:
        carom_body_destroy(world, id);
        break;
    case 3:
    case 4:
        add_box(world, (carom_body_type)cm_rng_below(rng, 3), at);
        break;
    case 5:
        carom_body_rest(world, id);
        break;
    case 6: {
        carom_shape_id shape;
        if (carom_body_shapes(world, id, &shape, 1) > 0) {
            carom_shape_set_surface(world, shape, v.x, 0.0f);
        }
        break;
    }
    case 8:
        carom_body_apply_force(world, id, cm_scale(100.0f, v), v);
        break;
    default:
        carom_body_set_velocity(world, id, v, cm_vec(0.0f, 0.0f, 0.0f));
    }
}

// Of calls that tell nobody that a body moves, or change what no step looks at.
static void call_quietly(carom_world *world, cm_rng *rng)
{
    carom_body_id id = carom_world_body_at(world, cm_rng_below(rng, 2 * STACKS + 8));
    carom_vec3 push = cm_vec(cm_rng_range(rng, -40.0f, 40.0f), 20.0f, 0.0f);
    carom_shape_id shape;
    switch (cm_rng_below(rng, 4)) {
    case 0:
        carom_body_apply_impulse(world, id, push, cm_vec(0.0f, 0.0f, 0.0f));
        break;
    case 1:
        carom_body_set_user_data(world, id, cm_rng_below(rng, 9));
        break;
    case 2:
        if (carom_body_shapes(world, id, &shape, 1) > 0) {
            carom_shape_set_surface(world, shape, push.x, 0.0f);
        }
        break;
    default:
        break;
    }
}

static void check_hash(const carom_world *world)
{
    cr_assert_eq(carom_world_hash(world), cm_world_hash_anew(world));
}

// A box onto one that may sleep.
static void drop(carom_world *world, cm_rng *rng)
{
    uint32_t slot = 1 + cm_rng_below(rng, 2 * STACKS);
    carom_vec3 at = cm_motions(world)[slot].position;
    if (cm_bodies(world)[slot].type == CAROM_BODY_DYNAMIC) {
        add_box(world, CAROM_BODY_DYNAMIC, cm_add(at, cm_vec(0.1f, 1.1f, 0.1f)));
    }
}

static bool is_active(const carom_world *world, uint32_t slot)
{
    const cm_body *body = &cm_bodies(world)[slot];
    const cm_motion *m = &cm_motions(world)[slot];
    bool runs = cm_length_squared(m->linear_velocity) + cm_length_squared(m->angular_velocity) > 0;
    return body->alive &&
           (body->type == CAROM_BODY_DYNAMIC ? !(body->flags & CM_BODY_ASLEEP) : runs);
}

// After a step, when nobody has called yet. Returns how many sleep.
static uint32_t check_known(const carom_world *world)
{
    uint32_t asleep = 0, before[2] = {0, 0};
    for (uint32_t i = 0; i < world->limits.bodies; i++) {
        bool used = i < world->state.body_slots;
        cr_assert_eq(cm_active(world)[i], used && is_active(world, i), "slot %u", i);
        asleep += used && (cm_bodies(world)[i].flags & CM_BODY_ASLEEP) != 0;
    }
    cr_assert_eq(world->known.asleep, asleep);
    cm_contact_run run = {0};
    while (cm_contacts_next(world, &run)) {
        for (uint32_t i = run.row; i < run.row + run.rows; i++) {
            const cm_contact *contact =
                cm_contact_row(world, CM_SECTION_contact, run.resting, i, sizeof *contact);
            uint32_t a = cm_shapes(world)[contact->shape_a].body;
            uint32_t b = cm_shapes(world)[contact->shape_b].body;
            cr_assert_eq(run.resting, !is_active(world, a) && !is_active(world, b));
            cr_assert(contact->shape_a > before[0] ||
                      (contact->shape_a == before[0] && contact->shape_b > before[1]));
            before[0] = contact->shape_a;
            before[1] = contact->shape_b;
        }
    }
    return asleep;
}

static uint32_t count_woken(const carom_world *world)
{
    uint32_t count, woken = 0;
    const carom_sleep_event *events = carom_world_sleep_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        woken += !events[i].asleep;
    }
    return woken;
}

// Of whom a step tells that a call woke them.
static uint32_t count_stirred(const carom_world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        const cm_body *body = &cm_bodies(world)[i];
        count += body->type == CAROM_BODY_DYNAMIC && (body->flags & CM_BODY_STIRRED);
    }
    return count;
}

// Identities that are kept are those that a world finds anew.
static void check_identities(const carom_world *world, const carom_world *fresh)
{
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        uint64_t kept[2], found[2];
        if (cm_bodies(world)[i].alive) {
            cm_body_identify(world, i, &kept[0], &kept[1]);
            cm_body_identify(fresh, i, &found[0], &found[1]);
            cr_assert_eq(memcmp(kept, found, sizeof kept), 0, "slot %u", i);
        }
    }
}

static void step_alike(carom_world *world, carom_world *other)
{
    for (uint32_t i = 0; i < AHEAD; i++) {
        carom_world_step(other);
    }
    cr_assert_eq(carom_world_hash(world), carom_world_hash(other));
}

Test(awake, what_is_known_is_what_the_rows_say)
{
    carom_world *world = open_yard(), *other = open_yard(), *past = open_yard();
    size_t bound = carom_world_save_bound(world), size = 0;
    char *image = malloc(bound), *bytes = malloc(4 * bound);
    uint32_t most = 0, touched = 0;
    cm_rng rng;
    cm_rng_seed(&rng, 11);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        for (uint32_t i = cm_rng_below(&rng, tick % 150 < 20  ? 4
                                             : tick % 20 == 0 ? 3
                                                              : 1);
             i > 0; i--) {
            call(world, &rng);
            if (tick % 3 == 0) {
                check_hash(world);
                call_quietly(world, &rng);
            }
        }
        if (tick % 20 == 10) {
            drop(world, &rng);
        }
        if (tick % 7 == 0) { // between calls and the step
            carom_world *fresh = open_yard();
            size = carom_world_save(world, image, bound);
            check_hash(past);
            size_t encoded = carom_world_encode(world, bytes, 4 * bound);
            cr_assert_eq(carom_world_restore(fresh, image, size), CAROM_OK);
            cr_assert_eq(carom_world_restore(past, image, size), CAROM_OK);
            check_identities(world, fresh);
            check_identities(past, fresh);
            cr_assert_eq(carom_world_decode(other, bytes, encoded), CAROM_OK);
            for (uint32_t i = 0; i < AHEAD; i++) {
                carom_world_step(world);
            }
            if (tick % 2 == 0) { // what the restore takes back is kept
                check_hash(world);
            }
            step_alike(world, fresh);
            step_alike(world, past);
            step_alike(world, other);
            cr_assert_eq(carom_world_restore(world, image, size), CAROM_OK); // and back
            free(fresh);
            check_hash(world);
            check_hash(past);
            check_hash(other);
        }
        uint32_t stirred = count_stirred(world);
        carom_world_step(world);
        if (tick % 5 < 2) {
            check_hash(world);
        }
        touched += count_woken(world) - stirred;
        uint32_t asleep = check_known(world);
        most = asleep > most ? asleep : most;
    }
    cr_assert_geq(touched, 10, "%u were woken by a touch", touched);
    cr_assert_gt(most, STACKS, "of %u bodies at most %u slept", 2 * STACKS, most);
    free(image);
    free(bytes);
    free(world);
    free(other);
    free(past);
}

// Of what a restore changes that is told by nothing but a pose: a step stands where it stood.
Test(awake, what_was_moved_is_back_after_a_restore)
{
    carom_world *world = open_yard(), *fresh = open_yard();
    carom_body_id shelf = add_box(world, CAROM_BODY_STATIC, cm_vec(-5.0f, 1.0f, 0.0f));
    fixture_step(world, 120);
    carom_body_id box = add_box(world, CAROM_BODY_DYNAMIC, cm_vec(-5.0f, 1.6f, 0.0f));
    size_t bound = carom_world_save_bound(world);
    char *image = malloc(bound), *later = malloc(bound);
    size_t size = carom_world_save(world, image, bound);
    cr_assert_eq(carom_body_set_pose(world, shelf, cm_vec(-9.0f, 1.0f, 0.0f), cm_quat_identity()),
                 CAROM_OK);
    fixture_step(world, 3);
    cr_assert_gt(carom_world_save(world, later, bound), 0); // what is known of rows is up to date
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_OK);
    cr_assert_eq(carom_world_restore(fresh, image, size), CAROM_OK);
    fixture_step(world, 90);
    fixture_step(fresh, 90);
    cr_assert_eq(carom_world_hash(world), carom_world_hash(fresh));
    cr_assert_gt(cm_motions(world)[box.index].position.y, 1.4f, "it fell through");
    free(image);
    free(later);
    free(world);
    free(fresh);
}

// A state with fewer slots and no contacts, in both forms, and back.
Test(awake, a_hash_forgets_what_is_gone)
{
    carom_world *world = open_yard(), *bare = fixture_world_of(CAROM_SOLVER_SOFT, 8, 8, 64);
    size_t bound = carom_world_save_bound(world);
    char *image = malloc(bound), *other = malloc(4 * bound);
    fixture_step(world, 120);
    cr_assert_gt(world->resting.rows, 0);
    check_hash(world);
    size_t size = carom_world_save(world, image, bound);
    size_t small = carom_world_encode(bare, other, 4 * bound);
    cr_assert_eq(carom_world_decode(world, other, small), CAROM_OK);
    check_hash(world);
    cr_assert_eq(carom_world_hash(world), carom_world_hash(bare));
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_OK);
    check_hash(world);
    small = carom_world_save(bare, other, 4 * bound);
    cr_assert_eq(carom_world_restore(world, other, small), CAROM_OK);
    cr_assert_eq(carom_world_hash(world), carom_world_hash(bare));
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_OK);
    check_hash(world);
    free(image);
    free(other);
    free(world);
    free(bare);
}

// Of what sleeps a step sees nothing: neither bodies nor contacts, however many there are.
Test(awake, a_step_goes_over_what_is_awake)
{
    carom_world *world = open_yard();
    fixture_step(world, 120);
    cr_assert_eq(world->known.asleep, 2 * STACKS);
    cr_assert_eq(world->state.contact_count, 0);
    cr_assert_eq(world->resting.rows, 2 * STACKS);
    carom_body_id ball = add_box(world, CAROM_BODY_DYNAMIC, cm_vec(-6.0f, 3.0f, -6.0f));
    fixture_step(world, 2);
    uint32_t noted = 0, moving = 0;
    for (uint32_t i = 0; i < cm_body_pages(world); i++) {
        noted += (uint32_t)__builtin_popcountll(cm_pages(world, CM_SECTION_body)[i].noted);
        moving += (uint32_t)__builtin_popcountll(cm_pages(world, CM_SECTION_body)[i].moving);
    }
    cr_assert_eq(noted, 0);
    cr_assert_eq(moving, 2, "the box that falls, and what is kinematic");
    cr_assert_eq(cm_active(world)[ball.index], 1);
    fixture_step(world, 60);
    cr_assert_leq(world->state.contact_count, 1);
    cr_assert_eq(world->resting.rows, 2 * STACKS);
    free(world);
}

// A body that falls, so that nothing else says that it was changed.
Test(awake, an_identity_changes_with_a_shape)
{
    carom_world *world = open_yard();
    carom_body_id id = add_box(world, CAROM_BODY_DYNAMIC, cm_vec(-6.0f, 30.0f, -6.0f));
    fixture_step(world, 2);
    carom_shape_id shape;
    uint64_t kind[2], links[2];
    cr_assert_eq(carom_body_shapes(world, id, &shape, 1), 1);
    cm_body_identify(world, id.index, &kind[0], &links[0]);
    cr_assert_eq(carom_shape_set_surface(world, shape, 0.9f, 0.1f), CAROM_OK);
    cm_body_identify(world, id.index, &kind[1], &links[1]);
    cr_assert_neq(kind[0], kind[1]);
    cr_assert_eq(links[0], links[1]);
    free(world);
}
