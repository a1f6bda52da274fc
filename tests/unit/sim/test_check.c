// Definitions asked about before there is a world. Goal: each solver refuses what it does not do
// and nothing else, base rules hold for all, and a finding names field and shape. Method: defs that
// are sound but for one field, and a list of what was found.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "carom/check.h"
#include "shared/base/memory.h"
#include "shared/base/vec.h"

typedef struct list {
    uint32_t refused, warned, shape;
    const char *field; // of the last finding
} list;

static void add(void *context, const carom_error *finding)
{
    list *found = context;
    *(finding->result == CAROM_OK ? &found->warned : &found->refused) += 1;
    found->field = finding->field;
    found->shape = finding->shape;
    cr_expect_neq(finding->expected[0], '\0', "%s", finding->field);
}

static carom_world_def world_of(carom_solver_type solver)
{
    carom_world_def def = carom_default_world_def();
    def.solver.type = solver;
    return def;
}

// Asks each solver; `refusing` has a letter of "silv" for each that is to refuse.
static void expect_shape(const carom_shape_def *shape, const char *refusing, const char *field)
{
    for (int type = 0; type < 4; type++) {
        carom_world_def world = world_of((carom_solver_type)type);
        carom_body_def body = carom_default_body_def();
        const carom_shape_def shapes[2] = {carom_default_shape_def(), *shape};
        list found = {0};
        const carom_findings to = {&found, add};
        bool refuses = strchr(refusing, "silv"[type]) != NULL;
        cr_expect_eq(carom_check_body(&world, &body, shapes, 2, &to), !refuses, "%s of solver %d",
                     field, type);
        cr_expect_eq(found.refused, refuses ? 1u : 0u, "%s of solver %d", field, type);
        cr_expect(!refuses || (strcmp(found.field, field) == 0 && found.shape == 1), "%s",
                  found.field);
    }
}

Test(check, shapes_of_each_solver)
{
    const carom_shape_def sound = carom_default_shape_def();
    expect_shape(&sound, "", "none");
    carom_shape_def shape = sound;
    shape.friction = 1.5f;
    expect_shape(&shape, "i", "friction");
    shape = sound;
    shape.rolling_friction = 0.1f;
    expect_shape(&shape, "ilv", "rolling_friction");
    shape = sound;
    shape.spin_friction = 0.1f;
    expect_shape(&shape, "ilv", "spin_friction");
    shape = sound;
    shape.surface_velocity.x = 1.0f;
    expect_shape(&shape, "i", "surface_velocity");
    shape = sound;
    shape.contact_mode = CAROM_CONTACT_NONE;
    expect_shape(&shape, "siv", "contact_mode");
    shape = sound;
    shape.contact_max_force = 1.0f;
    expect_shape(&shape, "siv", "contact_max_force");
    shape = sound;
    shape.contact_slip = 1.0f;
    expect_shape(&shape, "silv", "contact_slip"); // lcp's, but of a tyre
    shape = sound;
    shape.contact_slip_by_speed = 1.0e-5f;
    expect_shape(&shape, "silv", "contact_slip_by_speed");
    shape = sound;
    shape.contact_trail = 0.1f;
    expect_shape(&shape, "silv", "contact_trail");
    shape = sound;
    shape.density = -1.0f;
    expect_shape(&shape, "silv", "density");
}

static uint32_t joints_refused(carom_solver_type solver, float epsilon)
{
    carom_world_def world = world_of(solver);
    carom_joint_def joint = carom_default_joint_def();
    list found = {0};
    const carom_findings to = {&found, add};
    joint.epsilon = epsilon;
    bool sound = carom_check_joint(&world, &joint, &to);
    cr_expect_eq(sound, found.refused == 0);
    return found.refused;
}

Test(check, joints_and_rules_of_each_solver)
{
    cr_expect_eq(joints_refused(CAROM_SOLVER_SOFT, -1.0f), 0u);
    cr_expect_eq(joints_refused(CAROM_SOLVER_SOFT, 0.1f), 1u);
    cr_expect_eq(joints_refused(CAROM_SOLVER_LCP, 0.1f), 0u);
    cr_expect_eq(joints_refused(CAROM_SOLVER_IMPULSE, -1.0f), 1u);
    cr_expect_eq(joints_refused(CAROM_SOLVER_VOLUME, -1.0f), 1u);
    carom_world_def impulse = world_of(CAROM_SOLVER_IMPULSE), soft = world_of(CAROM_SOLVER_SOFT);
    carom_pair_rule rule = {.material_a = 1, .material_b = 2, .friction = 1.5f};
    cr_expect_not(carom_check_pair_rule(&impulse, &rule, NULL));
    cr_expect(carom_check_pair_rule(&soft, &rule, NULL));
}

static uint32_t ask(const carom_world_def *def, const char *field, bool refused)
{
    list found = {0};
    const carom_findings to = {&found, add};
    cr_expect_eq(carom_check_world(def, &to), !refused, "%s", field);
    cr_expect_str_eq(found.field, field);
    return refused ? found.refused : found.warned;
}

Test(check, worlds_of_each_solver)
{
    carom_world_def def;
    for (int type = 0; type < 4; type++) {
        def = world_of((carom_solver_type)type);
        cr_expect(carom_check_world(&def, NULL), "the defaults of %d", type);
        def.tick_rate = 0;
        cr_expect_eq(ask(&def, "tick_rate", true), 1u);
        def = world_of((carom_solver_type)type);
        def.limits.bodies = CAROM_BODIES_MAX + 1;
        cr_expect_eq(ask(&def, "limits.bodies", true), 1u);
    }
    def.solver.type = (carom_solver_type)9;
    cr_expect_eq(ask(&def, "solver.type", true), 1u);
    def = world_of(CAROM_SOLVER_IMPULSE);
    def.solver.impulse.model = CAROM_IMPULSE_CIRCLE;
    cr_expect_eq(ask(&def, "solver.impulse.model", true), 1u);
    def.planar = true;
    cr_expect(carom_check_world(&def, NULL));
    def.friction_combine = CAROM_COMBINE_MIN;
    cr_expect_eq(ask(&def, "friction_combine", true), 1u);
    def = world_of(CAROM_SOLVER_VOLUME);
    def.solver.volume.friction_kinetic = 0.5f;
    def.solver.volume.friction_static = 0.4f;
    cr_expect_eq(ask(&def, "solver.volume.friction_static", true), 1u);
    def = world_of(CAROM_SOLVER_LCP);
    def.solver.lcp.friction_model = CAROM_FRICTION_BOX_CONSTANT;
    cr_expect_eq(ask(&def, "solver.lcp.max_friction", false), 1u);
}

// A cube's corners, a point of an edge, then one in the middle of a face.
Test(check, points_that_are_no_corners_of_their_hull)
{
    carom_vec3 points[10];
    for (uint32_t i = 0; i < 8; i++) {
        points[i] = cm_vec(i & 1 ? 1.0f : 0.0f, i & 2 ? 1.0f : 0.0f, i & 4 ? 1.0f : 0.0f);
    }
    points[8] = cm_vec(0.5f, 0.0f, 0.0f);
    points[9] = cm_vec(0.5f, 0.5f, 1.0f);
    carom_hull *hull = NULL;
    cr_assert_eq(carom_hull_create(points, 10, &cm_by_malloc, &hull), CAROM_OK);
    cr_expect_eq(carom_hull_stray(hull, points, 8), 8u); // none
    cr_expect_eq(carom_hull_stray(hull, points, 10), 9u);
    carom_hull_destroy(hull);
}
