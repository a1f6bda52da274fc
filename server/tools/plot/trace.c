// The traces by name and how each is found.
//
// Energies: 1/2 m v^2 + 1/2 w . I w and -m g . x, sums over dynamic bodies. Angular
// momentum: I w of each body about its own centre of mass, summed; of_origin adds x cross m v, so
// it is constant in a collision whatever the bodies do.
#include "server/tools/plot/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/tools/plot/outline.h"

enum { X, Y, Z, SIZE };
enum { ENERGY = 0, KINETIC, POTENTIAL, CONTACTS, PENETRATION, JOINT_ERROR };
enum { MOMENTUM = 16, SPIN = 32, ORBIT = 48 };                            // plus X, Y, Z or SIZE
enum { PLACE = 0, VELOCITY = 16, TURNING = 32, FORCE = 48, TORQUE = 64 }; // likewise
enum { JOINT_VALUE = 0, JOINT_RATE, JOINT_FORCE, JOINT_TORQUE };

static const cm_trace TRACES[] = {
    {"energy", "kinetic and potential energy", "energy, J", CM_TRACE_WORLD, ENERGY},
    {"kinetic_energy", "kinetic energy", "energy, J", CM_TRACE_WORLD, KINETIC},
    {"potential_energy", "potential energy", "energy, J", CM_TRACE_WORLD, POTENTIAL},
    {"momentum_x", "momentum along x", "momentum, kg m/s", CM_TRACE_WORLD, MOMENTUM + X},
    {"momentum_y", "momentum along y", "momentum, kg m/s", CM_TRACE_WORLD, MOMENTUM + Y},
    {"momentum_z", "momentum along z", "momentum, kg m/s", CM_TRACE_WORLD, MOMENTUM + Z},
    {"angular_momentum", "angular momentum about z, each body about its centre",
     "angular momentum, kg m²/s", CM_TRACE_WORLD, SPIN + Z},
    {"angular_momentum_x", "angular momentum about x, each body about its centre",
     "angular momentum, kg m²/s", CM_TRACE_WORLD, SPIN + X},
    {"angular_momentum_y", "angular momentum about y, each body about its centre",
     "angular momentum, kg m²/s", CM_TRACE_WORLD, SPIN + Y},
    {"angular_momentum_of_origin", "angular momentum about z through the origin",
     "angular momentum, kg m²/s", CM_TRACE_WORLD, ORBIT + Z},
    {"contacts", "touching pairs of shapes", "pairs", CM_TRACE_WORLD, CONTACTS},
    {"penetration", "deepest penetration", "depth, m", CM_TRACE_WORLD, PENETRATION},
    {"joint_error", "worst error of a joint", "distance, m", CM_TRACE_WORLD, JOINT_ERROR},
    {"x", "x of the centre of mass", "x, m", CM_TRACE_BODY, PLACE + X},
    {"y", "y of the centre of mass", "y, m", CM_TRACE_BODY, PLACE + Y},
    {"z", "z of the centre of mass", "z, m", CM_TRACE_BODY, PLACE + Z},
    {"height", "height of the centre of mass", "height, m", CM_TRACE_BODY, PLACE + Y},
    {"vx", "velocity along x", "velocity, m/s", CM_TRACE_BODY, VELOCITY + X},
    {"vy", "velocity along y", "velocity, m/s", CM_TRACE_BODY, VELOCITY + Y},
    {"vz", "velocity along z", "velocity, m/s", CM_TRACE_BODY, VELOCITY + Z},
    {"speed", "speed", "speed, m/s", CM_TRACE_BODY, VELOCITY + SIZE},
    {"wx", "angular velocity about x", "angular velocity, rad/s", CM_TRACE_BODY, TURNING + X},
    {"wy", "angular velocity about y", "angular velocity, rad/s", CM_TRACE_BODY, TURNING + Y},
    {"wz", "angular velocity about z", "angular velocity, rad/s", CM_TRACE_BODY, TURNING + Z},
    {"angular_speed", "angular speed", "angular speed, rad/s", CM_TRACE_BODY, TURNING + SIZE},
    {"contact_force", "force of contacts (report_force, pointers)", "force, N", CM_TRACE_BODY,
     FORCE + SIZE},
    {"contact_torque", "torque of contacts (report_force, pointers)", "torque, N m", CM_TRACE_BODY,
     TORQUE + SIZE},
    {"joint", "angle or position of joints", "rad or m", CM_TRACE_JOINT, JOINT_VALUE},
    {"joint_rate", "rate of joints", "rad/s or m/s", CM_TRACE_JOINT, JOINT_RATE},
    {"joint_force", "force in joints", "force, N", CM_TRACE_JOINT, JOINT_FORCE},
    {"joint_torque", "torque in joints", "torque, N m", CM_TRACE_JOINT, JOINT_TORQUE},
    {"path", "path in x and y", "y, m", CM_TRACE_PATH, Y},
    {"path_xz", "path in x and z", "z, m", CM_TRACE_PATH, Z},
    {"energy_map", "kinetic energy after the collision", "restitution", CM_TRACE_MAP, 0},
    {"cost", "time of a step", "time of a step, us", CM_TRACE_COST, 0},
};

#define TRACE_COUNT (sizeof TRACES / sizeof TRACES[0])

const cm_trace *cm_trace_find(const char *name, size_t length)
{
    for (size_t i = 0; i < TRACE_COUNT; i++) {
        if (strlen(TRACES[i].name) == length && memcmp(TRACES[i].name, name, length) == 0) {
            return &TRACES[i];
        }
    }
    return NULL;
}

void cm_trace_names(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < TRACE_COUNT && used < size; i++) {
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", TRACES[i].name);
    }
}

bool cm_trace_is_angle(const cm_trace *trace)
{
    return trace->kind == CM_TRACE_JOINT && trace->what == JOINT_VALUE;
}

bool cm_trace_is_sum(const cm_trace *trace)
{
    return trace->kind == CM_TRACE_WORLD && trace->what != CONTACTS && trace->what != PENETRATION &&
           trace->what != JOINT_ERROR;
}

const char *cm_trace_needs(const cm_trace *trace)
{
    bool joints = trace->kind == CM_TRACE_JOINT ||
                  (trace->kind == CM_TRACE_WORLD && trace->what == JOINT_ERROR);
    bool wrench = trace->kind == CM_TRACE_BODY && trace->what >= FORCE;
    return joints   ? "joints"
           : wrench ? "bodies with report_force, or pointers"
                    : "bodies that can move";
}

static double component(carom_vec3 v, uint32_t which)
{
    cm_d3 d = cm_d3_from(v);
    return which == SIZE ? cm_d3_length(d) : cm_d3_at(d, which);
}

// I w in world axes, by the principal axes: turn w into them, scale, turn back.
static cm_d3 spin_of(const cm_offline *run, uint32_t slot)
{
    carom_body_def body;
    (void)carom_body_get_def(run->world, carom_world_body_at(run->world, slot), &body); // it lives
    carom_quat r = body.orientation, p = body.inertia_orientation;
    carom_quat back_r = {-r.x, -r.y, -r.z, r.w}, back_p = {-p.x, -p.y, -p.z, p.w};
    cm_d3 w = cm_turn(back_p, cm_turn(back_r, cm_d3_from(body.angular_velocity)));
    cm_d3 i = cm_d3_from(body.inertia);
    return cm_turn(r, cm_turn(p, cm_d3_of(w.x * i.x, w.y * i.y, w.z * i.z)));
}

// Adds one body's share of a sum.
static double share(const cm_offline *run, uint32_t slot, const carom_body_state *s, uint32_t what)
{
    cm_d3 x = cm_d3_from(s->center_of_mass), v = cm_d3_from(s->linear_velocity);
    cm_d3 spin = {0.0, 0.0, 0.0};
    double m = (double)s->mass, sum = 0.0;
    uint32_t k = what & 15u;
    if (what >= SPIN || what == KINETIC || what == ENERGY) {
        spin = spin_of(run, slot);
    }
    if (what >= ORBIT) {
        return cm_d3_at(cm_d3_mad(spin, m, cm_d3_cross(x, v)), k);
    }
    if (what >= MOMENTUM) {
        return what >= SPIN ? cm_d3_at(spin, k) : m * cm_d3_at(v, k);
    }
    if (what != POTENTIAL) {
        sum += 0.5 * (m * cm_d3_dot(v, v) + cm_d3_dot(cm_d3_from(s->angular_velocity), spin));
    }
    if (what != KINETIC) {
        sum -= m * cm_d3_dot(cm_d3_from(carom_world_gravity(run->world)), x);
    }
    return sum;
}

static double worst_joint_error(const carom_world *world)
{
    double worst = carom_world_joint_slots(world) > 0 ? 0.0 : NAN;
    for (uint32_t slot = 0; slot < carom_world_joint_slots(world); slot++) {
        carom_joint_state state;
        if (carom_joint_get(world, carom_world_joint_at(world, slot), &state) == CAROM_OK) {
            worst = fmax(worst, fabs((double)state.error));
        }
    }
    return worst;
}

static double world_value(uint32_t what, const cm_offline *run, const bool *bodies)
{
    const carom_world *world = run->world;
    if (what == CONTACTS || what == PENETRATION) {
        uint32_t touching = 0;
        double depth = 0.0;
        carom_world_measure_contacts(world, &touching, &depth);
        return what == CONTACTS ? (double)touching : depth;
    }
    if (what == JOINT_ERROR) {
        return worst_joint_error(world);
    }
    double sum = 0.0;
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state s;
        if ((bodies == NULL || bodies[slot]) &&
            carom_body_get(world, carom_world_body_at(world, slot), &s) == CAROM_OK &&
            s.type == CAROM_BODY_DYNAMIC) {
            sum += share(run, slot, &s, what);
        }
    }
    return sum;
}

static double joint_value(uint32_t what, const carom_world *world, uint32_t slot)
{
    carom_joint_state s;
    if (carom_joint_get(world, carom_world_joint_at(world, slot), &s) != CAROM_OK) {
        return NAN;
    }
    switch (what) {
    case JOINT_VALUE:
        return (double)s.value;
    case JOINT_RATE:
        return (double)s.rate;
    case JOINT_FORCE:
        return (double)s.force;
    default:
        return (double)s.torque;
    }
}

// True if the scene requests the contact wrench of a body; otherwise no solver keeps it.
static bool reports_force(const cm_offline *run, uint32_t slot)
{
    carom_body_def def;
    if (slot >= cm_scene_body_count(run->scene)) {
        return false; // joined later
    }
    cm_scene_body_def(run->scene, slot, &def);
    return def.report_force || def.pointer != CAROM_NO_PLAYER;
}

double cm_trace_value(const cm_trace *trace, const cm_offline *run, uint32_t index,
                      const bool *bodies)
{
    carom_body_state s;
    if (trace->kind == CM_TRACE_WORLD) {
        return world_value(trace->what, run, bodies);
    }
    if (trace->kind == CM_TRACE_JOINT) {
        return joint_value(trace->what, run->world, index);
    }
    if (carom_body_get(run->world, carom_world_body_at(run->world, index), &s) != CAROM_OK) {
        return NAN;
    }
    uint32_t k = trace->what & 15u;
    if (trace->what >= FORCE && !reports_force(run, index)) {
        return NAN;
    }
    return component(trace->what >= TORQUE     ? s.contact_torque
                     : trace->what >= FORCE    ? s.contact_force
                     : trace->what >= TURNING  ? s.angular_velocity
                     : trace->what >= VELOCITY ? s.linear_velocity
                                               : s.center_of_mass,
                     k);
}

void cm_trace_point(const cm_trace *trace, const cm_offline *run, uint32_t slot, double point[2])
{
    carom_body_state s;
    point[0] = point[1] = NAN;
    if (carom_body_get(run->world, carom_world_body_at(run->world, slot), &s) == CAROM_OK) {
        point[0] = (double)s.center_of_mass.x;
        point[1] = component(s.center_of_mass, trace->what);
    }
}

double cm_trace_kinetic_energy(const cm_offline *run)
{
    return world_value(KINETIC, run, NULL);
}
