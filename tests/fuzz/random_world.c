// See random_world.h. A tame world has what a scene could hold; a wild one takes every value that
// the API accepts, and half of what it refuses. Typical: 40 bodies, 10 joints.
#include "tests/fuzz/random_world.h"

#include "shared/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BODIES      48u
#define HULL_POINTS 24u

static void *take(void *context, size_t size)
{
    (void)context;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void give(void *context, void *block)
{
    (void)context;
    free(block);
}

static bool one_in(cm_rng *rng, uint32_t n)
{
    return cm_rng_below(rng, n) == 0;
}

// One draw a statement: C does not say in which order arguments are evaluated.
static carom_vec3 around(cm_rng *rng, float width)
{
    carom_vec3 v;
    v.x = cm_rng_range(rng, -width, width);
    v.y = cm_rng_range(rng, -width, width);
    v.z = cm_rng_range(rng, -width, width);
    return v;
}

static carom_quat turn(cm_rng *rng)
{
    carom_vec3 axis = around(rng, 1.0f);
    carom_quat q = {axis.x, axis.y, axis.z, cm_rng_range(rng, -1.0f, 1.0f)};
    float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    return norm > 0.01f ? cm_quat_normalize(q) : cm_quat_identity();
}

// Of some size: what a scene has, or anything.
static float amount(cm_random_world *random, float usual)
{
    static const float scales[] = {0.0f, 1.0e-9f, 1.0e-3f, 1.0f, 1.0e3f, 1.0e7f, 1.0e14f};
    float some = cm_rng_range(&random->rng, 0.2f, 1.0f);
    return random->tame ? usual * some : some * scales[cm_rng_below(&random->rng, 7)];
}

static float nonsense(cm_rng *rng)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, 3.0e38f, -1.0f, 1.0e-45f};
    return values[cm_rng_below(rng, 6)];
}

// Definitions ------------------------------------------------------------------------------------

static void make_hulls(cm_random_world *random)
{
    carom_allocator allocator = {.allocate = take, .release = give};
    for (uint32_t i = 0; i < CM_RANDOM_HULLS; i++) {
        carom_vec3 points[HULL_POINTS];
        uint32_t count = 3 + cm_rng_below(&random->rng, HULL_POINTS - 2);
        float flat = one_in(&random->rng, 4) ? cm_rng_range(&random->rng, 0.0f, 0.01f) : 1.0f;
        for (uint32_t k = 0; k < count; k++) {
            points[k] = around(&random->rng, 0.6f);
            points[k].z *= flat;
        }
        if (carom_hull_create(points, count, &allocator, &random->owned[i]) == CAROM_OK) {
            random->hulls[random->hull_count++] = random->owned[i];
        } else {
            random->owned[i] = NULL;
        }
    }
    random->hull_count = carom_hull_sort(random->hulls, random->hull_count);
}

static void make_solver(cm_random_world *random, carom_solver_def *def)
{
    cm_rng *rng = &random->rng;
    def->type = (carom_solver_type)cm_rng_below(rng, 4);
    uint32_t substeps = cm_rng_below(rng, 6); // 0: the default
    def->soft.substeps = substeps > 0 ? substeps : def->soft.substeps;
    def->impulse.substeps = substeps > 0 ? substeps : def->impulse.substeps;
    def->lcp.substeps = substeps > 0 ? substeps : def->lcp.substeps;
    def->volume.substeps = substeps;
    def->impulse.model = (carom_impulse_model)cm_rng_below(rng, 4);
    def->lcp.friction_model = (carom_friction_model)cm_rng_below(rng, 4);
    def->volume.contact = (carom_volume_contact)cm_rng_below(rng, 2);
    def->lcp.integration = (carom_integration)cm_rng_below(rng, 2);
    def->lcp.rounds = 1 + cm_rng_below(rng, 3);
    def->lcp.max_friction = cm_rng_range(rng, 0.0f, 20.0f);
    def->lcp.direct_rows = one_in(rng, 2) ? 64 : 12;
    def->volume.segments = 3 + cm_rng_below(rng, 14);
    if (!random->tame) {
        def->lcp.epsilon = amount(random, 1.0f) > 1.0f ? 1.0e3f : 0.0f;
        def->lcp.gamma = cm_rng_range(rng, 0.0f, 1.0f);
        def->volume.stiffness = amount(random, 1.0f);
        def->volume.damping = amount(random, 1.0f);
    }
}

static carom_shape_def make_shape(cm_random_world *random)
{
    cm_rng *rng = &random->rng;
    carom_shape_def def = carom_default_shape_def();
    do {
        def.type = (carom_shape_type)cm_rng_below(rng, CAROM_SHAPE_HULL + 1);
    } while (def.type == CAROM_SHAPE_PLANE ||
             (def.type == CAROM_SHAPE_HULL && random->hull_count == 0));
    def.position = around(rng, 0.4f);
    def.orientation = turn(rng);
    def.radius = cm_rng_range(rng, 0.1f, 0.5f);
    def.half_height = cm_rng_range(rng, 0.05f, 0.6f);
    def.half_extents = cm_vec(cm_rng_range(rng, 0.1f, 0.6f), cm_rng_range(rng, 0.1f, 0.6f), 0.3f);
    def.hull = random->hull_count > 0 ? random->hulls[cm_rng_below(rng, random->hull_count)] : NULL;
    def.friction = cm_rng_range(rng, 0.0f, 1.0f);
    def.restitution = one_in(rng, 3) ? cm_rng_range(rng, 0.0f, 1.0f) : 0.0f;
    def.density = random->tame ? cm_rng_range(rng, 100.0f, 5000.0f) : 1.0f + amount(random, 1.0f);
    def.sensor = one_in(rng, 12);
    def.category = one_in(rng, 6) ? 2 : 1;
    def.mask = one_in(rng, 6) ? 1 : UINT32_MAX;
    def.group = (int32_t)cm_rng_below(rng, 3) - 1;
    def.material = cm_rng_below(rng, 3);
    def.rolling_friction = one_in(rng, 3) ? cm_rng_range(rng, 0.0f, 0.5f) : 0.0f;
    def.spin_friction = one_in(rng, 3) ? cm_rng_range(rng, 0.0f, 0.5f) : 0.0f;
    def.surface_velocity = one_in(rng, 6) ? around(rng, 3.0f) : cm_vec(0.0f, 0.0f, 0.0f);
    def.contact_mode = (carom_contact_mode)cm_rng_below(rng, 4);
    def.contact_axis = one_in(rng, 2) ? cm_vec(1.0f, 0.0f, 0.0f) : cm_vec(0.0f, 0.0f, 0.0f);
    def.contact_slip = one_in(rng, 2) ? cm_rng_range(rng, 0.0f, 0.2f) : 0.0f;
    def.contact_slip_by_speed = one_in(rng, 3) ? cm_rng_range(rng, 0.0f, 0.2f) : 0.0f;
    def.contact_trail = one_in(rng, 3) ? cm_rng_range(rng, 0.0f, 0.3f) : 0.0f;
    def.contact_max_force = one_in(rng, 2) ? amount(random, 50.0f) : 0.0f;
    return def;
}

static void add_body(cm_random_world *random)
{
    cm_rng *rng = &random->rng;
    carom_body_def def = carom_default_body_def();
    carom_shape_def shapes[3];
    uint32_t count = one_in(rng, 3) ? 1 + cm_rng_below(rng, 3) : 1;
    for (uint32_t i = 0; i < count; i++) {
        shapes[i] = make_shape(random);
    }
    def.type = one_in(rng, 8) ? (carom_body_type)cm_rng_below(rng, 3) : CAROM_BODY_DYNAMIC;
    def.position = around(rng, 2.5f);
    def.position.y = cm_rng_range(rng, -0.5f, 5.0f);
    def.orientation = turn(rng);
    if (def.type != CAROM_BODY_STATIC) {
        def.linear_velocity = around(rng, amount(random, 8.0f) < 1.0e6f ? 6.0f : 1.0e5f);
        def.angular_velocity = around(rng, 10.0f);
    }
    def.gravity_scale = one_in(rng, 8) ? cm_rng_range(rng, -2.0f, 3.0f) : 1.0f;
    def.linear_damping = one_in(rng, 4) ? amount(random, 1.0f) > 1.0e5f ? 1.0e5f : 0.5f : 0.0f;
    def.angular_damping = one_in(rng, 4) ? 0.5f : 0.0f;
    def.axis_locks = one_in(rng, 6) ? cm_rng_below(rng, 64) : 0;
    (void)one_in(rng, 8); // of a bullet, once: old seeds make the same worlds
    def.sleep = !one_in(rng, 5);
    def.report_force = one_in(rng, 4);
    def.history = count == 2; // not drawn: old seeds make the same worlds
    def.epsilon = one_in(rng, 4) ? cm_rng_range(rng, 0.0f, 0.1f) : -1.0f;
    def.pointer = def.type == CAROM_BODY_KINEMATIC && one_in(rng, 3) ? 1 : CAROM_NO_PLAYER;
    def.has_mass = one_in(rng, 5);
    def.mass = amount(random, 20.0f);
    if (one_in(rng, 40)) {
        def.position.y = nonsense(rng);
    }
    if (one_in(rng, 40)) {
        shapes[0].radius = nonsense(rng);
    }
    random->refused += carom_body_create(random->world, &def, shapes, count, NULL) != CAROM_OK;
}

static carom_body_id some_body(cm_random_world *random)
{
    uint32_t slots = carom_world_body_slots(random->world);
    return carom_world_body_at(random->world, slots ? cm_rng_below(&random->rng, slots) : 0);
}

static void add_joint(cm_random_world *random)
{
    cm_rng *rng = &random->rng;
    carom_joint_def def = carom_default_joint_def();
    def.type = (carom_joint_type)cm_rng_below(rng, CAROM_JOINT_MOTOR + 1);
    def.body_b = some_body(random);
    if (!one_in(rng, 4)) {
        def.body_a = some_body(random);
    }
    carom_body_state b;
    if (carom_body_get(random->world, def.body_b, &b) == CAROM_OK) {
        def.anchor = cm_add(b.position, around(rng, 0.5f));
    }
    def.anchor_b = cm_add(def.anchor, around(rng, 0.5f));
    def.axis = around(rng, 1.0f);
    def.steering_axis = around(rng, 1.0f);
    def.collide = one_in(rng, 2);
    def.has_limits = one_in(rng, 2);
    def.lower = def.type == CAROM_JOINT_DISTANCE ? 0.2f : -0.4f;
    def.upper = def.lower + cm_rng_range(rng, 0.0f, 1.0f);
    def.has_motor = one_in(rng, 3);
    def.motor_velocity = cm_rng_range(rng, -5.0f, 5.0f);
    def.motor_max = amount(random, 50.0f);
    def.spring = (carom_spring_type)cm_rng_below(rng, 3);
    def.spring_hertz = amount(random, 5.0f);
    def.spring_damping_ratio = amount(random, 1.0f);
    def.spring_stiffness = amount(random, 500.0f);
    def.spring_damping = amount(random, 20.0f);
    def.spring_target = one_in(rng, 3) ? cm_rng_range(rng, -4.0f, 4.0f) : 0.0f;
    def.spring_velocity = one_in(rng, 6) ? cm_rng_range(rng, -5.0f, 5.0f) : 0.0f;
    def.spring_max = one_in(rng, 3) ? amount(random, 50.0f) : def.spring_max;
    def.break_force = one_in(rng, 4) ? amount(random, 500.0f) : 0.0f;
    def.epsilon = one_in(rng, 4) ? 0.01f : -1.0f;
    if (one_in(rng, 30)) {
        def.lower = nonsense(rng);
    }
    random->refused += carom_joint_create(random->world, &def, NULL) != CAROM_OK;
}

// Life -------------------------------------------------------------------------------------------

static carom_world *make_world(const cm_random_world *random)
{
    size_t size = carom_world_size(&random->def);
    void *memory = size > 0 ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
    carom_world *world = NULL;
    if (memory == NULL) {
        return NULL;
    }
    memset(memory, 0xa5, size);
    if (carom_world_create(&random->def, memory, size, &world) != CAROM_OK) {
        free(memory);
        return NULL;
    }
    return world;
}

carom_world *cm_random_world_twin(const cm_random_world *random)
{
    return make_world(random);
}

bool cm_random_world_open(cm_random_world *random, uint64_t seed)
{
    memset(random, 0, sizeof *random);
    cm_rng_seed(&random->rng, seed);
    cm_rng *rng = &random->rng;
    random->tame = !one_in(rng, 3);
    make_hulls(random);
    carom_world_def *def = &random->def;
    *def = carom_default_world_def();
    def->limits.bodies = BODIES;
    def->limits.shapes = 2 * BODIES;
    def->limits.joints = 24;
    def->limits.contacts = one_in(rng, 4) ? 40 : 8 * BODIES;
    def->tick_rate = one_in(rng, 4) ? 1 + cm_rng_below(rng, 1000) : 60;
    def->friction_combine = (carom_combine)cm_rng_below(rng, 5);
    def->restitution_combine = (carom_combine)cm_rng_below(rng, 5);
    def->sleep = !one_in(rng, 4);
    def->planar = one_in(rng, 5);
    def->seed = seed;
    def->hulls = random->hulls;
    def->hull_count = random->hull_count;
    make_solver(random, &def->solver);
    random->world = make_world(random);
    if (random->world == NULL) { // a solver that is not built, or does not take these
        def->solver = carom_default_world_def().solver;
        random->world = make_world(random);
    }
    if (random->world == NULL) {
        return false;
    }
    carom_body_def ground = carom_default_body_def();
    carom_shape_def plane = carom_default_shape_def();
    ground.type = CAROM_BODY_STATIC;
    plane.type = CAROM_SHAPE_PLANE;
    carom_body_create(random->world, &ground, &plane, 1, NULL);
    uint32_t bodies = 1 + cm_rng_below(rng, BODIES - 8);
    for (uint32_t i = 0; i < bodies; i++) {
        add_body(random);
    }
    for (uint32_t i = cm_rng_below(rng, 16); i > 0; i--) {
        add_joint(random);
    }
    carom_pair_rule rule = {
        .material_a = 1, .material_b = 2, .friction = 0.9f, .restitution = 0.1f};
    carom_world_add_pair_rule(random->world, &rule);
    return true;
}

void cm_random_world_close(cm_random_world *random)
{
    free((void *)random->world);
    for (uint32_t i = 0; i < CM_RANDOM_HULLS; i++) {
        if (random->owned[i] != NULL) {
            carom_hull_destroy(random->owned[i]);
        }
    }
}

static void disturb_joint(cm_random_world *random)
{
    cm_rng *rng = &random->rng;
    uint32_t slots = carom_world_joint_slots(random->world);
    carom_joint_id joint =
        carom_world_joint_at(random->world, slots ? cm_rng_below(rng, slots) : 0);
    switch (cm_rng_below(rng, 6)) {
    case 0:
        carom_joint_set_motor(random->world, joint, cm_rng_range(rng, -9.0f, 9.0f),
                              amount(random, 50.0f));
        break;
    case 1:
        carom_joint_set_limits(random->world, joint, 0.1f, 0.1f + amount(random, 0.5f));
        break;
    case 2:
        carom_joint_destroy(random->world, joint);
        break;
    case 3:
        carom_joint_detach(random->world, joint);
        break;
    case 4: // to bodies drawn anew; the world (a null id) and one body twice are among them
        carom_joint_attach(random->world, joint, some_body(random), some_body(random));
        break;
    default:
        add_joint(random);
        break;
    }
}

void cm_random_world_disturb(cm_random_world *random)
{
    cm_rng *rng = &random->rng;
    carom_world *world = random->world;
    carom_body_id body = some_body(random);
    float force = amount(random, 2000.0f);
    switch (cm_rng_below(rng, 13)) {
    case 0:
        carom_body_apply_force(world, body, around(rng, force), around(rng, force));
        break;
    case 1:
        carom_body_apply_impulse(world, body, around(rng, force * 0.01f), around(rng, 2.0f));
        break;
    case 2:
        carom_body_set_force(world, body, around(rng, force * 0.1f), around(rng, 1.0f));
        break;
    case 3:
        carom_body_set_velocity(world, body, around(rng, 10.0f), around(rng, 10.0f));
        break;
    case 4:
        carom_body_set_pose(world, body, around(rng, random->tame ? 3.0f : 1.0e5f), turn(rng));
        break;
    case 5:
        carom_body_set_type(world, body, (carom_body_type)cm_rng_below(rng, 3));
        break;
    case 6:
        carom_body_destroy(world, body);
        break;
    case 7:
        add_body(random);
        break;
    case 8: // refused: not a number, or nobody
        carom_body_apply_force(world, body, cm_vec(nonsense(rng), 0.0f, 0.0f), around(rng, 1.0f));
        body.generation += 7;
        carom_body_set_velocity(world, body, around(rng, 1.0f), around(rng, 1.0f));
        break;
    case 9:
        carom_world_set_gravity(world, around(rng, 20.0f));
        break;
    case 10: // refused where the solver is not lcp
        carom_world_set_softness(world, amount(random, 0.01f), cm_rng_range(rng, 0.0f, 1.0f));
        break;
    default:
        disturb_joint(random);
        break;
    }
}
