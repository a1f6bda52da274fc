// What users build of joints: bridges, doors and arms with limits, rings, ragdolls, cranes,
// springs. A limit does no work, and a spring gives back what it took (d'Alembert): nothing is
// gained, and what is held together stays so under a load of 100 links. Links of 5 kg, half a metre
// long.
#include "tests/physics/physics.h"
#include "tests/unit/counts.h"

#define G     9.81
#define PITCH 0.5f

typedef enum mechanism_kind {
    CHAIN,   // from the world, lying level
    BRIDGE,  // of spheres, held at both ends
    RING,    // closed, hanging by one link
    COMB,    // a chain, with a leaf at each joint
    RAGDOLL, // hangs by a hand, its load at a foot
    CRANE,   // a chain whose motors turn each link up
} mechanism_kind;

typedef enum mechanism_part { PLAIN, LIMITS, SPRINGS, MOTORS } mechanism_part;

typedef struct mechanism_case {
    mechanism_kind kind;
    carom_joint_type type;
    mechanism_part part;
    uint32_t links;
    float load;        // masses of a link, of the last one
    float error;       // m, the most that a joint may part
    uint32_t few, all; // s
} mechanism_case;

typedef struct mechanism {
    const mechanism_case *c;
    cm_lab lab;
    double height; // J, of it all below the highest joint
    uint32_t made;
} mechanism;

static carom_body_id link_of(mechanism *m, carom_vec3 at, float angle, float load, double below)
{
    carom_body_def body = carom_default_body_def();
    bool round = m->c->kind == BRIDGE;
    carom_shape_def shape = cm_lab_shape(&m->lab, round ? CAROM_SHAPE_SPHERE : CAROM_SHAPE_BOX);
    carom_vec3 along = cm_vec(sinf(angle), -cosf(angle), 0.0f);
    body.position = cm_mul_add(at, 0.5f * PITCH, along);
    body.orientation = (carom_quat){0.0f, 0.0f, sinf(0.5f * angle), cosf(0.5f * angle)};
    shape.radius = 0.2f;
    shape.half_extents = load > 1.0f ? cm_vec(0.25f, 0.25f, 0.25f) : cm_vec(0.05f, 0.25f, 0.05f);
    shape.density = load > 1.0f ? 40.0f * load : 1000.0f;
    shape.mask = 0;
    carom_body_id id = cm_lab_add(&m->lab, &body, &shape);
    m->height += (double)cm_lab_get(&m->lab, id).mass * G * below;
    return id;
}

static void join(mechanism *m, carom_joint_type type, carom_body_id a, carom_body_id b,
                 carom_vec3 at)
{
    const mechanism_case *c = m->c;
    carom_joint_def joint = carom_default_joint_def();
    // Every third names its bodies the other way round; the world stands first.
    bool swapped = (m->made++ % 3 == 2 && !carom_body_id_is_null(a)) || carom_body_id_is_null(b);
    joint.type = type;
    joint.body_a = swapped ? b : a;
    joint.body_b = swapped ? a : b;
    joint.anchor = joint.anchor_b = at;
    joint.axis = cm_vec(0.0f, 0.0f, 1.0f);
    joint.steering_axis = cm_vec(0.0f, 1.0f, 0.0f);
    joint.has_limits = c->part == LIMITS && type != CAROM_JOINT_BALL;
    joint.lower = -0.3f;
    joint.upper = 0.3f;
    if (c->part == SPRINGS) {
        joint.spring = CAROM_SPRING_HERTZ;
        joint.spring_hertz = 2.0f;
        joint.spring_damping_ratio = 0.05f;
    }
    joint.has_motor = c->part == MOTORS;
    joint.motor_velocity = swapped ? -0.1f : 0.1f;
    cm_lab_join(&m->lab, &joint);
}

static void build_chain(mechanism *m, float angle, float turn)
{
    const mechanism_case *c = m->c;
    carom_body_id before = {0}, first = {0};
    carom_vec3 at = cm_vec(0.0f, 0.0f, 0.0f);
    for (uint32_t i = 0; i < c->links; i++) {
        bool last = i + 1 == c->links;
        carom_body_id id = link_of(m, at, angle, last ? c->load : 1.0f, (i + 1) * (double)PITCH);
        if (c->kind != RING || i > 0) {
            join(m, c->type, before, id, at);
        } else {
            first = id;
            cm_lab_joint(&m->lab, CAROM_JOINT_BALL, before, id, at, cm_vec(0.0f, 0.0f, 1.0f));
        }
        if (c->kind == COMB && i > 0) {
            float aside = angle + (i % 2 ? 1.0f : -1.0f);
            carom_body_id leaf = link_of(m, at, aside, c->load, (i + 1) * (double)PITCH);
            join(m, c->type, before, leaf, at);
        }
        at = cm_mul_add(at, PITCH, cm_vec(sinf(angle), -cosf(angle), 0.0f));
        angle += turn;
        before = id;
    }
    if (c->kind == BRIDGE || c->kind == RING) {
        join(m, c->type, before, first, at);
    }
}

static void build_ragdoll(mechanism *m)
{
    // The part that each hangs on, its angle, its joint.
    static const struct {
        int32_t on;
        float angle;
        carom_joint_type type;
    } parts[] = {
        {-1, 0.1f, CAROM_JOINT_BALL},  {0, -0.1f, CAROM_JOINT_HINGE}, {1, 0.0f, CAROM_JOINT_BALL},
        {1, 2.8f, CAROM_JOINT_BALL},   {1, 1.6f, CAROM_JOINT_BALL},   {4, 1.4f, CAROM_JOINT_HINGE},
        {2, 0.3f, CAROM_JOINT_BALL},   {6, 0.2f, CAROM_JOINT_HINGE},  {2, -0.3f, CAROM_JOINT_BALL},
        {8, -0.2f, CAROM_JOINT_HINGE}, {9, -0.1f, CAROM_JOINT_HINGE}};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    carom_body_id made[PARTS];
    carom_vec3 end[PARTS];
    double below[PARTS];
    for (uint32_t i = 0; i < PARTS; i++) {
        bool top = parts[i].on < 0;
        carom_vec3 at = top ? cm_vec(0.0f, 0.0f, 0.0f) : end[parts[i].on];
        float angle = parts[i].angle;
        below[i] = (top ? 0.0 : below[parts[i].on]) + (double)PITCH;
        made[i] = link_of(m, at, angle, i + 1 == PARTS ? m->c->load : 1.0f, below[i]);
        end[i] = cm_mul_add(at, PITCH, cm_vec(sinf(angle), -cosf(angle), 0.0f));
        join(m, parts[i].type, top ? (carom_body_id){0} : made[parts[i].on], made[i], at);
    }
}

// Motors turn each link by .1 rad/s, whatever hangs on them. What a load bends does not grow with
// time: 20 links with 100 at their end stand within .031 rad a joint after 1 s, .023 after 10.
static void check_crane(const mechanism *m, double seconds)
{
    double most = 0.005 + 0.0005 * (double)m->c->load;
    for (uint32_t i = 0; i < carom_world_joint_slots(m->lab.world); i++) {
        carom_joint_id id = carom_world_joint_at(m->lab.world, i);
        double turned = fabs((double)cm_lab_joint_get(&m->lab, id).value);
        cm_within(turned - 0.1 * seconds, -most, most, "rad beyond its turn, joint %u of a crane",
                  i);
    }
}

static void run_mechanism(const mechanism_case *c)
{
    carom_world_def def = cm_lab_def(60, 128);
    def.sleep = false;
    mechanism m = {.c = c, .lab = cm_lab_open(&def)};
    bool ring = c->kind == RING;
    if (c->kind == RAGDOLL) {
        build_ragdoll(&m);
    } else {
        build_chain(&m, ring ? 0.3f : 0.5f * (float)CM_PI,
                    ring ? 2.0f * (float)CM_PI / (float)c->links : 0.0f);
    }
    double first = cm_lab_energy(&m.lab), top = first, parted = 0.0;
    uint32_t seconds = test_count(c->few, c->all);
    for (uint32_t tick = 0; tick < 60 * seconds; tick++) {
        carom_world_step(m.lab.world);
        top = fmax(top, cm_lab_energy(&m.lab));
        parted = fmax(parted, cm_lab_joint_error(&m.lab));
    }
    const char *names[] = {"chain", "bridge", "ring", "comb", "ragdoll", "crane"};
    const char *parts[] = {"plain", "limits", "springs", "motors"};
    if (c->part == MOTORS) {
        check_crane(&m, (double)seconds);
    } else {
        cm_within((top - first) / m.height, -1.0, 0.01, "gained in %u s: %s, %s, type %d, %u, %g",
                  seconds, names[c->kind], parts[c->part], (int)c->type, c->links, (double)c->load);
    }
    cm_within(parted, 0.0, (double)c->error, "m, the worst joint: %s, %s, type %d, %u, %g",
              names[c->kind], parts[c->part], (int)c->type, c->links, (double)c->load);
    cm_lab_close(&m.lab);
}

ParameterizedTestParameters(mechanisms, hold_and_gain_nothing)
{
    static mechanism_case cases[] = {
        {BRIDGE, CAROM_JOINT_HINGE, PLAIN, 100, 1.0f, 0.05f, 5, 60},
        {COMB, CAROM_JOINT_HINGE, LIMITS, 10, 20.0f, 0.05f, 10, 300},
        {CHAIN, CAROM_JOINT_HINGE, LIMITS, 20, 100.0f, 0.1f, 5, 300},
        {CHAIN, CAROM_JOINT_PRISMATIC, SPRINGS, 5, 10.0f, 0.01f, 5, 300},
        {RING, CAROM_JOINT_HINGE, PLAIN, 20, 100.0f, 0.1f, 5, 300},
        {RAGDOLL, CAROM_JOINT_HINGE, LIMITS, 11, 100.0f, 0.01f, 10, 300},
        {CRANE, CAROM_JOINT_HINGE, MOTORS, 5, 100.0f, 0.01f, 3, 10},
        {BRIDGE, CAROM_JOINT_HINGE, PLAIN, 20, 1.0f, 0.01f, 5, 60},
        {BRIDGE, CAROM_JOINT_HINGE, PLAIN, 60, 1.0f, 0.01f, 5, 60},
        {BRIDGE, CAROM_JOINT_HINGE, LIMITS, 60, 1.0f, 0.01f, 5, 60},
        {BRIDGE, CAROM_JOINT_HINGE, SPRINGS, 20, 1.0f, 0.01f, 5, 60},
        {COMB, CAROM_JOINT_HINGE, LIMITS, 10, 1.0f, 0.05f, 10, 300},
        {CHAIN, CAROM_JOINT_HINGE, LIMITS, 1, 1.0f, 0.01f, 10, 300},
        {CHAIN, CAROM_JOINT_HINGE, LIMITS, 5, 20.0f, 0.01f, 10, 300},
        {CHAIN, CAROM_JOINT_HINGE, LIMITS, 20, 1.0f, 0.05f, 10, 300},
        {CHAIN, CAROM_JOINT_HINGE, LIMITS, 60, 1.0f, 0.1f, 10, 300},
        {CHAIN, CAROM_JOINT_PRISMATIC, LIMITS, 5, 20.0f, 0.01f, 10, 300},
        {CHAIN, CAROM_JOINT_STEERING, LIMITS, 5, 20.0f, 0.01f, 10, 300},
        {CHAIN, CAROM_JOINT_HINGE, SPRINGS, 10, 1.0f, 0.05f, 10, 300},
        {CHAIN, CAROM_JOINT_HINGE, SPRINGS, 20, 100.0f, 0.1f, 10, 300},
        {CHAIN, CAROM_JOINT_BALL, SPRINGS, 20, 100.0f, 0.1f, 10, 300},
        {CHAIN, CAROM_JOINT_STEERING, SPRINGS, 5, 10.0f, 0.05f, 10, 300},
        {RING, CAROM_JOINT_HINGE, PLAIN, 6, 1.0f, 0.05f, 10, 300},
        {RING, CAROM_JOINT_BALL, PLAIN, 20, 1.0f, 0.1f, 10, 300},
        {RING, CAROM_JOINT_HINGE, PLAIN, 60, 1.0f, 0.1f, 10, 300},
        {RAGDOLL, CAROM_JOINT_HINGE, LIMITS, 11, 1.0f, 0.01f, 10, 300},
        {CRANE, CAROM_JOINT_HINGE, MOTORS, 5, 1.0f, 0.01f, 3, 10},
        {CRANE, CAROM_JOINT_HINGE, MOTORS, 20, 100.0f, 0.02f, 3, 3},
    };
    uint32_t count = test_count(7, sizeof cases / sizeof cases[0]);
    return cr_make_param_array(mechanism_case, cases, count);
}

ParameterizedTest(mechanism_case *c, mechanisms, hold_and_gain_nothing)
{
    run_mechanism(c);
}
