// Goal: bodies come, are read, changed and go by the rules of world.h: lowest free slots, ids that
// go stale, refusals that leave no trace, limits that name themselves. Method: each call with good,
// stale, non-finite and out-of-range arguments; the hash before and after a refusal; slots and
// generations read back.

#include "shared/sim/state/fields.h"
#include "tests/unit/sim/world_fixture.h"

static carom_body_id add_box(carom_world *world, carom_body_type type, float x)
{
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id;
    def.type = type;
    def.position.x = x;
    shape.type = CAROM_SHAPE_BOX;
    cr_assert_eq(carom_body_create(world, &def, &shape, 1, &id), CAROM_OK);
    return id;
}

Test(body, ids_take_the_lowest_slot_and_go_stale)
{
    carom_world *world = fixture_world(8, 8, 8);
    carom_body_id a = add_box(world, CAROM_BODY_DYNAMIC, 0.0f);
    carom_body_id b = add_box(world, CAROM_BODY_DYNAMIC, 3.0f);
    carom_body_id c = add_box(world, CAROM_BODY_DYNAMIC, 6.0f);
    cr_assert_eq(a.index, 0);
    cr_assert_eq(c.index, 2);
    cr_assert_eq(a.generation, 1);
    cr_assert_eq(carom_body_destroy(world, a), CAROM_OK);
    cr_assert_eq(carom_body_destroy(world, b), CAROM_OK);
    cr_assert_eq(carom_body_destroy(world, b), CAROM_ERROR_STALE_ID);
    cr_assert(carom_body_id_is_null(carom_world_body_at(world, 0)));
    cr_assert_eq(carom_world_body_slots(world), 3);
    carom_body_id d = add_box(world, CAROM_BODY_DYNAMIC, 0.0f);
    cr_assert_eq(d.index, 0);
    cr_assert_eq(d.generation, 2);
    carom_body_state state;
    carom_vec3 zero = {0, 0, 0};
    const carom_body_id stale[] = {a, b, {0, 0}, {2, 0}, {7, 1}, {0xffffffffu, 1}};
    for (size_t i = 0; i < sizeof stale / sizeof stale[0]; i++) {
        carom_body_id id = stale[i];
        cr_assert_not(carom_body_is_valid(world, id));
        cr_assert_eq(carom_body_get(world, id, &state), CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_set_pose(world, id, zero, cm_quat_identity()),
                     CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_set_velocity(world, id, zero, zero), CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_set_force(world, id, zero, zero), CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_apply_force(world, id, zero, zero), CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_apply_impulse(world, id, zero, zero), CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_set_type(world, id, CAROM_BODY_STATIC), CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_set_user_data(world, id, 1), CAROM_ERROR_STALE_ID);
        cr_assert_eq(carom_body_shapes(world, id, NULL, 0), 0);
    }
    free(world);
}

// Read together, bodies are what each is alone; free slots and those beyond the count are null.
Test(body, many_are_read_as_each_alone)
{
    enum { BODIES = 9, ASKED = 16 };
    carom_world *world = fixture_world(BODIES, 16, 16);
    carom_body_id ids[ASKED];
    carom_body_state states[ASKED], alone;
    for (int i = 0; i < BODIES; i++) {
        carom_body_id id =
            add_box(world, i == 2 ? CAROM_BODY_STATIC : CAROM_BODY_DYNAMIC, 3.0f * (float)i);
        cr_assert_eq(carom_body_set_user_data(world, id, 100u + (uint64_t)i), CAROM_OK);
    }
    cr_assert_eq(carom_body_destroy(world, carom_world_body_at(world, 4)), CAROM_OK);
    for (int i = 0; i < 5; i++) {
        carom_world_step(world);
    }
    for (uint32_t first = 0; first < ASKED; first++) {
        uint32_t live = 0;
        memset(ids, 0xa5, sizeof ids);
        memset(states, 0xa5, sizeof states);
        uint32_t found = carom_world_read_bodies(world, first, ASKED, ids, states);
        for (uint32_t i = 0; i < ASKED; i++) {
            carom_body_id id =
                first + i < BODIES ? carom_world_body_at(world, first + i) : (carom_body_id){0, 0};
            cr_assert_eq(ids[i].index, id.index);
            cr_assert_eq(ids[i].generation, id.generation);
            if (carom_body_get(world, id, &alone) != CAROM_OK) {
                memset(&alone, 0, sizeof alone);
            } else {
                live++;
            }
            cr_assert_arr_eq((uint8_t *)&states[i], (uint8_t *)&alone, sizeof alone);
        }
        cr_assert_eq(found, live);
    }
    cr_assert_eq(carom_world_read_bodies(world, UINT32_MAX, ASKED, ids, states), 0);
    cr_assert_eq(carom_world_read_bodies(world, 0, 0, ids, states), 0);
    cr_assert_eq(carom_world_read_bodies(world, 0, ASKED, NULL, states), 0);
    cr_assert_eq(carom_world_read_bodies(NULL, 0, ASKED, ids, states), 0);
    cr_assert(carom_body_id_is_null(ids[0]));
    free(world);
}

// Bodies without shapes, so that nothing but the body's own generation can tell the worlds apart.
static carom_body_id add_bare(carom_world *world)
{
    carom_body_def def = carom_default_body_def();
    carom_body_id id;
    def.type = CAROM_BODY_STATIC;
    cr_assert_eq(carom_body_create(world, &def, NULL, 0, &id), CAROM_OK);
    return id;
}

Test(body, a_generation_outlives_the_body_and_is_state)
{
    carom_world *fresh = fixture_world(8, 8, 8), *used = fixture_world(8, 8, 8);
    add_bare(fresh);
    carom_body_id second = add_bare(fresh);
    add_bare(used);
    carom_body_id once = add_bare(used);
    cr_assert_eq(carom_world_hash(fresh), carom_world_hash(used));
    carom_body_destroy(used, once);
    add_bare(used);
    cr_assert_neq(carom_world_hash(fresh), carom_world_hash(used));
    carom_body_destroy(fresh, second);
    carom_body_destroy(used, carom_world_body_at(used, 1));
    cr_assert_neq(carom_world_hash(fresh), carom_world_hash(used)); // dead, of other generations
    free(fresh);
    free(used);
}

Test(body, slots_above_the_count_are_never_read)
{
    carom_world *world = fixture_world(8, 8, 8);
    char *empty = malloc(carom_world_save_size(world));
    size_t size = carom_world_save(world, empty, carom_world_save_size(world));
    add_box(world, CAROM_BODY_DYNAMIC, 0.0f);
    uint64_t hash = carom_world_hash(world);
    // Rows of a future that was rewound, and of nothing at all.
    cr_assert_eq(carom_world_restore(world, empty, size), CAROM_OK);
    memset(cm_motions(world), 0x5a, 8 * sizeof(cm_motion));
    memset(cm_rows(world, CM_SECTION_body), 0x5a, 8 * sizeof(cm_body));
    memset(cm_rows(world, CM_SECTION_shape), 0x5a, 8 * sizeof(cm_shape));
    carom_body_id id = add_box(world, CAROM_BODY_DYNAMIC, 0.0f);
    cr_assert_eq(id.generation, 1);
    cr_assert_eq(carom_world_hash(world), hash);
    free(empty);
    free(world);
}

Test(body, limits_name_themselves_and_leave_no_trace)
{
    carom_world *world = fixture_world(2, 4, 8);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shapes[5];
    for (int i = 0; i < 5; i++) {
        shapes[i] = carom_default_shape_def();
    }
    uint64_t hash = carom_world_hash(world);
    cr_assert_eq(carom_body_create(world, &def, shapes, 5, NULL), CAROM_ERROR_LIMIT_SHAPES);
    cr_assert_eq(carom_world_hash(world), hash);
    cr_assert_eq(carom_body_create(world, &def, shapes, 3, NULL), CAROM_OK);
    hash = carom_world_hash(world);
    cr_assert_eq(carom_body_create(world, &def, shapes, 2, NULL), CAROM_ERROR_LIMIT_SHAPES);
    cr_assert_eq(carom_world_hash(world), hash);
    cr_assert_eq(carom_body_create(world, &def, shapes, 1, NULL), CAROM_OK);
    def.type = CAROM_BODY_STATIC;
    cr_assert_eq(carom_body_create(world, &def, NULL, 0, NULL), CAROM_ERROR_LIMIT_BODIES);
    free(world);
}

Test(body, a_bad_definition_is_refused_with_the_reason)
{
    carom_world *world = fixture_world(8, 8, 8);
    uint64_t hash = carom_world_hash(world);
    const float nan = __builtin_nanf(""), inf = __builtin_inff();
    struct {
        float *value;
        float bad;
        carom_result result;
    } cases[40];
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    uint32_t count = 0;
#define CASE(field, number, code)                                                                  \
    cases[count].value = &(field);                                                                 \
    cases[count].bad = (number);                                                                   \
    cases[count++].result = (code)
    CASE(def.position.x, nan, CAROM_ERROR_NOT_FINITE);
    CASE(def.position.z, 1.0e9f, CAROM_ERROR_ARGUMENT);
    CASE(def.orientation.w, 0.9f, CAROM_ERROR_ARGUMENT);
    CASE(def.orientation.x, nan, CAROM_ERROR_NOT_FINITE);
    CASE(def.linear_velocity.y, inf, CAROM_ERROR_NOT_FINITE);
    CASE(def.angular_velocity.y, -1.0e8f, CAROM_ERROR_ARGUMENT);
    CASE(def.force.y, nan, CAROM_ERROR_NOT_FINITE);
    CASE(def.torque.y, 1.0e20f, CAROM_ERROR_ARGUMENT);
    CASE(def.gravity_scale, nan, CAROM_ERROR_NOT_FINITE);
    CASE(def.linear_damping, -1.0f, CAROM_ERROR_ARGUMENT);
    CASE(def.angular_damping, inf, CAROM_ERROR_NOT_FINITE);
    CASE(shape.position.x, nan, CAROM_ERROR_NOT_FINITE);
    CASE(shape.orientation.w, 0.5f, CAROM_ERROR_ARGUMENT);
    CASE(shape.radius, 0.0f, CAROM_ERROR_ARGUMENT);
    CASE(shape.radius, -1.0f, CAROM_ERROR_ARGUMENT);
    CASE(shape.radius, nan, CAROM_ERROR_NOT_FINITE);
    CASE(shape.friction, -0.1f, CAROM_ERROR_ARGUMENT);
    CASE(shape.restitution, 1.1f, CAROM_ERROR_ARGUMENT);
    CASE(shape.density, -1.0f, CAROM_ERROR_ARGUMENT);
    CASE(shape.density, 0.0f, CAROM_ERROR_ARGUMENT); // dynamic, and no mass
    CASE(shape.density, nan, CAROM_ERROR_NOT_FINITE);
#undef CASE
    for (uint32_t i = 0; i < count; i++) {
        float kept = *cases[i].value;
        *cases[i].value = cases[i].bad;
        cr_assert_eq(carom_body_create(world, &def, &shape, 1, NULL), cases[i].result, "case %u",
                     i);
        *cases[i].value = kept;
    }
    def.bullet = true;
    cr_assert_eq(carom_body_create(world, &def, &shape, 1, NULL), CAROM_ERROR_NOT_BUILT);
    cr_assert_str_eq(carom_last_error(world).field, "bullet");
    def.bullet = false;
    cr_assert_eq(carom_body_create(world, &def, NULL, 0, NULL), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_body_create(world, &def, NULL, 1, NULL), CAROM_ERROR_ARGUMENT);
    shape.type = CAROM_SHAPE_PLANE;
    cr_assert_eq(carom_body_create(world, &def, &shape, 1, NULL), CAROM_ERROR_ARGUMENT);
    shape.type = (carom_shape_type)17;
    cr_assert_eq(carom_body_create(world, &def, &shape, 1, NULL), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_hash(world), hash);
    free(world);
}

Test(body, quaternions_near_unit_are_normalised)
{
    carom_world *world = fixture_world(8, 8, 8);
    carom_body_id id = add_box(world, CAROM_BODY_DYNAMIC, 0.0f);
    carom_quat near_unit = {0.0f, 0.0f, 0.6f * 1.008f, 0.8f * 1.008f}, far = {0, 0, 0.6f, 0.78f};
    carom_vec3 zero = {0, 0, 0};
    cr_assert_eq(carom_body_set_pose(world, id, zero, near_unit), CAROM_OK);
    carom_body_state state;
    carom_body_get(world, id, &state);
    cr_assert_float_eq(state.orientation.z, 0.6f, 1.0e-6f);
    cr_assert_float_eq(state.orientation.w, 0.8f, 1.0e-6f);
    cr_assert_eq(carom_body_set_pose(world, id, zero, far), CAROM_ERROR_ARGUMENT);
    free(world);
}

Test(body, the_api_speaks_of_the_origin)
{
    carom_world *world = fixture_world(8, 8, 8);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.position = cm_vec(1.0f, 0.0f, 0.0f);
    def.position = cm_vec(5.0f, 6.0f, 7.0f);
    def.orientation.z = 0.70710678f; // a quarter about z: x becomes y
    def.orientation.w = 0.70710678f;
    carom_body_id id;
    cr_assert_eq(carom_body_create(world, &def, &shape, 1, &id), CAROM_OK);
    carom_body_state state;
    carom_body_get(world, id, &state);
    cr_assert_float_eq(state.position.x, 5.0f, 1.0e-6f);
    cr_assert_float_eq(state.position.y, 6.0f, 1.0e-6f);
    cr_assert_float_eq(state.center_of_mass.x, 5.0f, 1.0e-6f);
    cr_assert_float_eq(state.center_of_mass.y, 7.0f, 1.0e-6f);
    carom_body_set_pose(world, id, cm_vec(0, 0, 0), cm_quat_identity());
    carom_body_get(world, id, &state);
    cr_assert_float_eq(state.position.x, 0.0f, 1.0e-6f);
    cr_assert_float_eq(state.center_of_mass.x, 1.0f, 1.0e-6f);
    free(world);
}

Test(body, impulses_change_velocities_by_the_book)
{
    carom_world *world = fixture_world(8, 8, 8);
    carom_body_def def = carom_default_body_def();
    carom_body_id id;
    def.has_mass = def.has_inertia = true;
    def.mass = 2.0f;
    def.inertia = cm_vec(1.0f, 4.0f, 8.0f);
    def.inertia_orientation.z = 0.70710678f; // its x lies along the body's y
    def.inertia_orientation.w = 0.70710678f;
    cr_assert_eq(carom_body_create(world, &def, NULL, 0, &id), CAROM_OK);
    // J = (0, 0, 3) at (0, 2, 0): torque impulse (6, 0, 0), about an axis with moment 4.
    cr_assert_eq(carom_body_apply_impulse(world, id, cm_vec(0, 0, 3), cm_vec(0, 2, 0)), CAROM_OK);
    carom_body_state state;
    carom_body_get(world, id, &state);
    cr_assert_float_eq(state.linear_velocity.z, 1.5f, 1.0e-6f);
    cr_assert_float_eq(state.angular_velocity.x, 1.5f, 1.0e-5f);
    cr_assert_float_eq(state.angular_velocity.y, 0.0f, 1.0e-5f);
    uint64_t hash = carom_world_hash(world);
    cr_assert_eq(carom_body_apply_impulse(world, id, cm_vec(1.0e14f, 0, 0), cm_vec(0, 0, 0)),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_hash(world), hash);
    free(world);
}

Test(body, forces_last_as_long_as_said)
{
    carom_world *world = fixture_world(8, 8, 8);
    carom_body_id held = add_box(world, CAROM_BODY_DYNAMIC, 0.0f);
    carom_body_id once = add_box(world, CAROM_BODY_DYNAMIC, 10.0f);
    carom_vec3 zero = {0, 0, 0};
    carom_body_set_force(world, held, cm_vec(6000.0f, 0, 0), zero); // 6 m/s^2
    carom_body_apply_force(world, once, cm_vec(3000.0f, 0, 0), zero);
    carom_body_apply_force(world, once, cm_vec(3000.0f, 0, 0), zero);
    fixture_step(world, 10);
    carom_body_state a, b;
    carom_body_get(world, held, &a);
    carom_body_get(world, once, &b);
    cr_assert_float_eq(a.linear_velocity.x, 1.0f, 1.0e-4f);
    cr_assert_float_eq(b.linear_velocity.x, 0.1f, 1.0e-5f);
    cr_assert_eq(carom_body_apply_force(world, held, cm_vec(__builtin_nanf(""), 0, 0), zero),
                 CAROM_ERROR_NOT_FINITE);
    cr_assert_eq(carom_body_set_force(world, held, cm_vec(2.0e15f, 0, 0), zero),
                 CAROM_ERROR_ARGUMENT);
    free(world);
}

Test(body, types_change_in_place)
{
    carom_world *world = fixture_world(8, 8, 8);
    carom_body_id id = add_box(world, CAROM_BODY_DYNAMIC, 0.0f);
    carom_body_state state;
    carom_body_set_velocity(world, id, cm_vec(1, 2, 3), cm_vec(0, 0, 1));
    cr_assert_eq(carom_body_set_type(world, id, CAROM_BODY_STATIC), CAROM_OK);
    carom_body_get(world, id, &state);
    cr_assert_eq(state.mass, 0.0f);
    cr_assert_eq(state.linear_velocity.y, 0.0f);
    cr_assert_eq(carom_body_set_velocity(world, id, cm_vec(1, 0, 0), cm_vec(0, 0, 0)),
                 CAROM_ERROR_STATE);
    cr_assert_eq(carom_body_set_type(world, id, CAROM_BODY_DYNAMIC), CAROM_OK);
    carom_body_get(world, id, &state);
    cr_assert_float_eq(state.mass, 1000.0f, 1.0e-3f);
    carom_body_def def = carom_default_body_def();
    carom_shape_def plane = carom_default_shape_def();
    def.type = CAROM_BODY_STATIC;
    plane.type = CAROM_SHAPE_PLANE;
    cr_assert_eq(carom_body_create(world, &def, &plane, 1, &id), CAROM_OK);
    cr_assert_eq(carom_body_set_type(world, id, CAROM_BODY_KINEMATIC), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_body_set_type(world, id, CAROM_BODY_DYNAMIC), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_body_set_type(world, id, (carom_body_type)3), CAROM_ERROR_ARGUMENT);
    free(world);
}

// All that is remembered of each contact and its points, in words that name its shapes first.
static uint32_t *remembered(const carom_world *world, uint32_t *words_a_contact)
{
    uint32_t count = cm_section_rows(world, CM_SECTION_contact), words = 0, first = 0;
    for (int s = CM_CONTACTS_FIRST; s <= CM_POINTS_LAST; s++) {
        words += cm_section_words((cm_section)s) * (s < CM_POINTS_FIRST ? 1 : CM_MANIFOLD_MAX);
    }
    uint32_t *all = calloc((count + 1) * words, sizeof *all);
    for (uint32_t i = 0; i < count; i++) {
        const cm_contact *contact = cm_section_row(world, CM_SECTION_contact, i);
        uint32_t points = contact->point_count, at = i * words;
        for (int s = CM_CONTACTS_FIRST; s <= CM_POINTS_LAST; s++) {
            uint32_t row = s < CM_POINTS_FIRST ? i : first, rows = s < CM_POINTS_FIRST ? 1 : points;
            for (uint32_t k = 0; cm_has_rows(world, (cm_section)s) && k < rows; k++) {
                cm_row_load((cm_section)s, cm_section_row(world, (cm_section)s, row + k), all + at);
                at += cm_section_words((cm_section)s);
            }
        }
        first += points;
    }
    *words_a_contact = words;
    return all;
}

Test(body, destroying_leaves_what_is_remembered_of_others)
{
    static const carom_solver_type solvers[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_IMPULSE,
                                                CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME};
    for (uint32_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
        carom_world *world = fixture_world_of(solvers[s], 32, 64, 256);
        fixture_fill(world, 10, 12);
        fixture_step(world, 120);
        uint32_t before = cm_section_rows(world, CM_SECTION_contact), words, kept = 0;
        const cm_contact *middle = cm_section_row(world, CM_SECTION_contact, before / 2);
        uint32_t victim = cm_shapes(world)[middle->shape_b].body;
        uint32_t *first = remembered(world, &words);
        cr_assert_eq(carom_body_destroy(world, carom_world_body_at(world, victim)), CAROM_OK);
        uint32_t *second = remembered(world, &words);
        uint32_t after = cm_section_rows(world, CM_SECTION_contact);
        for (uint32_t i = 0; i < before && kept < after; i++) {
            kept += memcmp(first + i * words, second + kept * words, words * sizeof *first) == 0;
        }
        cr_assert_eq(kept, after, "solver %u", s);
        cr_assert_lt(kept, before);
        cr_assert_gt(kept, 2);
        free(first);
        free(second);
        free(world);
    }
}

Test(body, destroying_takes_shapes_and_contacts_along)
{
    carom_world *world = fixture_world(32, 64, 256);
    fixture_fill(world, 10, 12);
    fixture_step(world, 120);
    uint32_t before = world->state.contact_count, own = 0;
    carom_body_id id = carom_world_body_at(world, 1);
    carom_shape_id shapes[4];
    uint32_t count = carom_body_shapes(world, id, shapes, 4);
    cr_assert_gt(count, 0);
    for (uint32_t i = 0; i < before; i++) {
        const cm_contact *contact = &cm_contacts(world)[i];
        own += cm_shapes(world)[contact->shape_a].body == 1 ||
               cm_shapes(world)[contact->shape_b].body == 1;
    }
    cr_assert_gt(own, 0);
    cr_assert_eq(carom_body_destroy(world, id), CAROM_OK);
    cr_assert_eq(world->state.contact_count, before - own);
    for (uint32_t i = 1; i < world->state.contact_count; i++) {
        const cm_contact *a = &cm_contacts(world)[i - 1], *b = &cm_contacts(world)[i];
        cr_assert(a->shape_a < b->shape_a || (a->shape_a == b->shape_a && a->shape_b < b->shape_b));
    }
    carom_shape_def def;
    cr_assert_eq(carom_shape_get(world, shapes[0], &def, NULL), CAROM_ERROR_STALE_ID);
    fixture_step(world, 30);
    free(world);
}

Test(body, shapes_read_back_as_defined)
{
    carom_world *world = fixture_world(8, 8, 8);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shapes[3] = {carom_default_shape_def(), carom_default_shape_def(),
                                 carom_default_shape_def()};
    shapes[0].type = CAROM_SHAPE_CAPSULE;
    shapes[0].radius = 0.25f;
    shapes[0].half_height = 0.75f;
    shapes[1].type = CAROM_SHAPE_BOX;
    shapes[1].half_extents = cm_vec(1, 2, 3);
    shapes[1].category = 4;
    shapes[1].mask = 6;
    shapes[1].group = -2;
    shapes[1].material = 9;
    shapes[2].position = cm_vec(1, 1, 1);
    carom_body_id id, owner;
    cr_assert_eq(carom_body_create(world, &def, shapes, 3, &id), CAROM_OK);
    carom_shape_id ids[3];
    cr_assert_eq(carom_body_shapes(world, id, ids, 2), 3);
    cr_assert_eq(carom_body_shapes(world, id, ids, 3), 3);
    carom_shape_def got;
    cr_assert_eq(carom_shape_get(world, ids[0], &got, &owner), CAROM_OK);
    cr_assert(carom_body_id_equal(owner, id));
    cr_assert_eq(got.radius, 0.25f);
    cr_assert_eq(got.half_height, 0.75f);
    cr_assert_eq(carom_shape_get(world, ids[1], &got, NULL), CAROM_OK);
    cr_assert_eq(got.half_extents.z, 3.0f);
    cr_assert_eq(got.category, 4);
    cr_assert_eq(got.mask, 6);
    cr_assert_eq(got.group, -2);
    cr_assert_eq(got.material, 9);
    cr_assert_eq(carom_shape_get(world, ids[2], &got, NULL), CAROM_OK);
    cr_assert_eq(got.position.y, 1.0f);
    free(world);
}
