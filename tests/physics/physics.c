// See physics.h. Whatever cannot be built fails the test.
#include "tests/physics/physics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/counts.h"

static cm_case present; // the case whose world was made last; its seed is 0 if there is none

static uint64_t next_bits(uint64_t *state) // splitmix64
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void free_cases(struct criterion_test_params *params)
{
    cr_free(params->params);
}

struct criterion_test_params cm_cases(uint32_t solvers, uint32_t few, uint32_t all)
{
    const char *asked = getenv("SEED");
    uint64_t seed = asked != NULL ? strtoull(asked, NULL, 10) : 1;
    uint32_t each = test_count(few, all), count = 0;
    cm_case *cases = cr_calloc(4 * each + 1, sizeof *cases);
    for (uint32_t solver = 0; solver < 4; solver++) {
        for (uint32_t i = 0; i < each && (solvers >> solver & 1u) != 0; i++) {
            static const uint32_t rates[] = {60, 75, 90, 120, 144, 200, 240};
            cm_case *c = &cases[count++];
            *c = (cm_case){.seed = seed, .number = i, .rate = 60, .solver = solver};
            c->state = seed * 1000003u + i;
            c->rate = i == 0 ? 60 : rates[next_bits(&c->state) % 7];
        }
    }
    return cr_make_param_array(cm_case, cases, count, free_cases);
}

double cm_draw(cm_case *c, double low, double high)
{
    double share = (double)(next_bits(&c->state) >> 11) * 0x1p-53;
    return low > 0.0 ? low * pow(high / low, share) : low + share * (high - low);
}

const char *cm_solver_name(carom_solver_type solver)
{
    static const char *const names[] = {"soft", "impulse", "lcp", "volume"};
    return names[solver];
}

carom_world_def cm_case_def(const cm_case *c, uint32_t bodies)
{
    carom_world_def def = cm_lab_def(c->rate, bodies);
    present = *c;
    def.solver.type = c->solver;
    def.solver.lcp.friction_model = CAROM_FRICTION_CONE;
    def.sleep = false;
    return def;
}

static void *allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

const carom_allocator cm_lab_allocator = {.allocate = allocate, .release = release};

carom_world_def cm_lab_def(uint32_t rate, uint32_t bodies)
{
    carom_world_def def = carom_default_world_def();
    def.tick_rate = rate;
    def.limits.bodies = def.limits.shapes = def.limits.joints = bodies;
    def.limits.contacts = 16 * bodies;
    def.restitution_combine = CAROM_COMBINE_MAX;
    return def;
}

cm_lab cm_lab_open(const carom_world_def *def)
{
    cm_lab lab = {.surface = carom_default_shape_def()};
    size_t size = carom_world_size(def);
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    cr_assert_not_null(memory);
    cr_assert_eq(carom_world_create(def, memory, size, &lab.world), CAROM_OK);
    return lab;
}

void cm_lab_close(cm_lab *lab)
{
    free(lab->world);
    lab->world = NULL;
}

void cm_lab_run(cm_lab *lab, double seconds)
{
    uint32_t ticks = (uint32_t)lround(seconds * carom_world_tick_rate(lab->world));
    for (uint32_t i = 0; i < ticks; i++) {
        carom_world_step(lab->world);
    }
}

carom_body_id cm_lab_add(cm_lab *lab, const carom_body_def *body, const carom_shape_def *shape)
{
    carom_body_id id;
    cr_assert_eq(carom_body_create(lab->world, body, shape, 1, &id), CAROM_OK);
    return id;
}

carom_shape_def cm_lab_shape(const cm_lab *lab, carom_shape_type type)
{
    carom_shape_def shape = lab->surface;
    shape.type = type;
    return shape;
}

carom_body_id cm_lab_floor(cm_lab *lab)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    shape.type = CAROM_SHAPE_PLANE;
    shape.normal = cm_vec(0.0f, 1.0f, 0.0f);
    shape.friction = 1.0f;
    return cm_lab_add(lab, &body, &shape);
}

carom_body_id cm_lab_ball(cm_lab *lab, carom_vec3 position, float radius)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(lab, CAROM_SHAPE_SPHERE);
    body.position = position;
    shape.radius = radius;
    return cm_lab_add(lab, &body, &shape);
}

carom_body_id cm_lab_box(cm_lab *lab, carom_vec3 position, carom_vec3 half)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(lab, CAROM_SHAPE_BOX);
    body.position = position;
    shape.half_extents = half;
    return cm_lab_add(lab, &body, &shape);
}

void cm_lab_set_velocity(cm_lab *lab, carom_body_id body, carom_vec3 linear, carom_vec3 angular)
{
    cr_assert_eq(carom_body_set_velocity(lab->world, body, linear, angular), CAROM_OK);
}

carom_body_state cm_lab_get(const cm_lab *lab, carom_body_id body)
{
    carom_body_state state;
    cr_assert_eq(carom_body_get(lab->world, body, &state), CAROM_OK);
    return state;
}

void cm_lab_joint(cm_lab *lab, carom_joint_type type, carom_body_id a, carom_body_id b,
                  carom_vec3 anchor, carom_vec3 axis)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = type;
    def.body_a = a;
    def.body_b = b;
    def.anchor = def.anchor_b = anchor;
    def.axis = axis;
    cr_assert_eq(carom_joint_create(lab->world, &def, NULL), CAROM_OK);
}

carom_joint_id cm_lab_join(cm_lab *lab, const carom_joint_def *def)
{
    carom_joint_id id;
    cr_assert_eq(carom_joint_create(lab->world, def, &id), CAROM_OK);
    return id;
}

carom_joint_state cm_lab_joint_get(const cm_lab *lab, carom_joint_id joint)
{
    carom_joint_state state;
    cr_assert_eq(carom_joint_get(lab->world, joint, &state), CAROM_OK);
    return state;
}

double cm_lab_inertia(const cm_lab *lab, carom_body_id body, int axis)
{
    carom_body_def def;
    cr_assert_eq(carom_body_get_def(lab->world, body, &def), CAROM_OK);
    return (double)(axis == 0 ? def.inertia.x : axis == 1 ? def.inertia.y : def.inertia.z);
}

// Sums
// ---------------------------------------------------------------------------------------------

static carom_dvec3 turned(carom_quat q, carom_dvec3 v, double sign)
{
    double x = sign * q.x, y = sign * q.y, z = sign * q.z, w = q.w;
    double n = 1.0 / sqrt(x * x + y * y + z * z + w * w);
    x *= n, y *= n, z *= n, w *= n;
    carom_dvec3 t = {2 * (y * v.z - z * v.y), 2 * (z * v.x - x * v.z), 2 * (x * v.y - y * v.x)};
    return (carom_dvec3){v.x + w * t.x + y * t.z - z * t.y, v.y + w * t.y + z * t.x - x * t.z,
                         v.z + w * t.z + x * t.y - y * t.x};
}

// Of bodies whose inertia stands in their own axes, as all of a lab do.
carom_dvec3 cm_lab_angular_momentum(const cm_lab *lab, carom_body_id body)
{
    carom_body_state s = cm_lab_get(lab, body);
    carom_body_def def;
    cr_assert_eq(carom_body_get_def(lab->world, body, &def), CAROM_OK);
    carom_dvec3 w = {s.angular_velocity.x, s.angular_velocity.y, s.angular_velocity.z};
    w = turned(s.orientation, w, -1.0);
    w = (carom_dvec3){w.x * def.inertia.x, w.y * def.inertia.y, w.z * def.inertia.z};
    return turned(s.orientation, w, 1.0);
}

static double body_kinetic(const cm_lab *lab, carom_body_id id)
{
    carom_body_state s = cm_lab_get(lab, id);
    carom_dvec3 l = cm_lab_angular_momentum(lab, id);
    carom_vec3 v = s.linear_velocity, w = s.angular_velocity;
    return 0.5 * s.mass * ((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z) +
           0.5 * (l.x * w.x + l.y * w.y + l.z * w.z);
}

static bool is_dynamic(const cm_lab *lab, uint32_t slot, carom_body_id *id)
{
    *id = carom_world_body_at(lab->world, slot);
    return carom_body_is_valid(lab->world, *id) && cm_lab_get(lab, *id).type == CAROM_BODY_DYNAMIC;
}

double cm_lab_kinetic(const cm_lab *lab)
{
    double sum = 0.0;
    carom_body_id id;
    for (uint32_t i = 0; i < carom_world_body_slots(lab->world); i++) {
        sum += is_dynamic(lab, i, &id) ? body_kinetic(lab, id) : 0.0;
    }
    return sum;
}

double cm_lab_energy(const cm_lab *lab)
{
    double sum = cm_lab_kinetic(lab);
    carom_vec3 g = carom_world_gravity(lab->world);
    carom_body_id id;
    for (uint32_t i = 0; i < carom_world_body_slots(lab->world); i++) {
        if (is_dynamic(lab, i, &id)) {
            carom_body_state s = cm_lab_get(lab, id);
            carom_vec3 at = s.center_of_mass;
            sum -= s.mass * ((double)g.x * at.x + (double)g.y * at.y + (double)g.z * at.z);
        }
    }
    return sum;
}

double cm_lab_fastest(const cm_lab *lab)
{
    double most = 0.0;
    carom_body_id id;
    for (uint32_t i = 0; i < carom_world_body_slots(lab->world); i++) {
        if (is_dynamic(lab, i, &id)) {
            most = fmax(most, (double)cm_length(cm_lab_get(lab, id).linear_velocity));
        }
    }
    return most;
}

double cm_lab_joint_error(const cm_lab *lab)
{
    double most = 0.0;
    for (uint32_t i = 0; i < carom_world_joint_slots(lab->world); i++) {
        carom_joint_state s;
        if (carom_joint_get(lab->world, carom_world_joint_at(lab->world, i), &s) == CAROM_OK) {
            most = fmax(most, (double)s.error);
        }
    }
    return most;
}

void cm_tell_within(const char *file, int line, double value, double low, double high,
                    const char *format, ...)
{
    char what[256];
    int used = 0;
    if (present.seed != 0) {
        used = snprintf(what, sizeof what, "[SEED=%llu case %u, %s, %u Hz] ",
                        (unsigned long long)present.seed, present.number,
                        cm_solver_name(present.solver), present.rate);
    }
    va_list args;
    va_start(args, format);
    vsnprintf(what + used, sizeof what - (size_t)used, format, args);
    va_end(args);
    cr_log_info("%s: %g, to lie in [%g, %g]", what, value, low, high);
    if (!(value >= low && value <= high)) {
        cr_assert_fail("%s:%d: %s: %g, not in [%g, %g]", file, line, what, value, low, high);
    }
}
