// Trees of joints. Where bodies branch nothing is gained either, and light bodies between heavy
// ones hold them: a joint does no work (d'Alembert). Links of 5 kg, leaves of as many times that.
#include "tests/physics/physics.h"
#include "tests/unit/counts.h"

#define G     9.81
#define PITCH 0.5f

typedef enum tree_kind {
    HALVES, // each link holds two
    STAR,   // one link holds all leaves
    COMB,   // a chain, with a leaf at each joint
} tree_kind;

typedef struct tree_case {
    tree_kind kind;
    carom_joint_type type;
    bool limited; // hinges of half a radian each way, every other one
    uint32_t size;
    float load, spin; // rad/s
    float error;      // m, the most that a joint may part
} tree_case;

typedef struct tree {
    const tree_case *c;
    cm_lab lab;
    double height; // J, of it all below the first joint
    uint32_t made;
} tree;

static carom_body_id grow(tree *t, carom_body_id parent, carom_vec3 at, float angle, double above,
                          bool leaf, carom_vec3 *end)
{
    bool heavy = leaf && t->c->load > 1.0f;
    carom_vec3 along = cm_vec(sinf(angle), -cosf(angle), 0.0f);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(&t->lab, CAROM_SHAPE_BOX);
    body.position = cm_mul_add(at, 0.5f * PITCH, along);
    body.orientation = (carom_quat){0.0f, 0.0f, sinf(0.5f * angle), cosf(0.5f * angle)};
    body.angular_velocity = cm_vec(0.3f * t->c->spin, 0.0f, t->c->spin);
    body.linear_velocity = cm_cross(body.angular_velocity, body.position);
    shape.half_extents = heavy ? cm_vec(0.25f, 0.25f, 0.25f) : cm_vec(0.05f, 0.25f, 0.05f);
    shape.density = heavy ? 40.0f * t->c->load : 1000.0f;
    shape.mask = 0;
    carom_body_id id = cm_lab_add(&t->lab, &body, &shape);
    carom_joint_def joint = carom_default_joint_def();
    bool swapped = t->made++ % 3 == 2; // every third names its bodies the other way round
    joint.type = t->c->type;
    joint.body_a = swapped ? id : parent;
    joint.body_b = swapped ? parent : id;
    joint.anchor = joint.anchor_b = at;
    joint.axis = cm_vec(0.0f, 0.0f, 1.0f);
    joint.steering_axis = along;
    joint.has_limits = t->c->limited && t->made % 2 == 0;
    joint.lower = -0.5f;
    joint.upper = 0.5f;
    cm_lab_join(&t->lab, &joint);
    t->height += (double)cm_lab_get(&t->lab, id).mass * G *
                 ((double)body.position.y + above + 0.5 * (double)PITCH);
    *end = cm_mul_add(at, PITCH, along);
    return id;
}

static void branch(tree *t, carom_body_id parent, carom_vec3 at, float angle, uint32_t depth)
{
    for (int side = -1; depth < t->c->size && side <= 1; side += 2) {
        carom_vec3 end;
        float turned = angle + (float)side * 0.6f / (float)depth;
        bool leaf = depth + 1 == t->c->size;
        carom_body_id id = grow(t, parent, at, turned, depth * (double)PITCH, leaf, &end);
        branch(t, id, end, turned, depth + 1);
    }
}

static tree make(const tree_case *c)
{
    carom_world_def def = cm_lab_def(60, 128);
    def.sleep = false;
    tree t = {.c = c, .lab = cm_lab_open(&def)};
    float level = 0.5f * (float)CM_PI;
    carom_vec3 at, end;
    carom_body_id link =
        grow(&t, (carom_body_id){0}, cm_vec(0.0f, 0.0f, 0.0f), level, 0.0, false, &at);
    if (c->kind == HALVES) {
        branch(&t, link, at, level, 1);
    }
    for (uint32_t i = 0; c->kind == STAR && i < c->size; i++) {
        float turn = level + 2.0f * (float)CM_PI * (float)i / (float)c->size + 0.1f;
        grow(&t, link, at, turn, (double)PITCH, true, &end);
    }
    for (uint32_t i = 1; c->kind == COMB && i < c->size; i++) {
        double above = i * (double)PITCH;
        grow(&t, link, at, level + (i % 2 ? 1.0f : -1.0f), above, true, &end);
        link = grow(&t, link, at, level, above, i + 1 == c->size, &end);
        at = end;
    }
    return t;
}

static void swing(const tree_case *c, double seconds)
{
    tree t = make(c);
    double first = cm_lab_energy(&t.lab), top = first, parted = 0.0;
    double whole = fmax(t.height + cm_lab_kinetic(&t.lab), 1.0);
    for (uint32_t tick = 0; tick < (uint32_t)(60.0 * seconds); tick++) {
        carom_world_step(t.lab.world);
        top = fmax(top, cm_lab_energy(&t.lab));
        parted = fmax(parted, cm_lab_joint_error(&t.lab));
    }
    cm_within((top - first) / whole, -1.0, 0.01, "gained in %g s: tree %d, joint type %d, %u, %g",
              seconds, (int)c->kind, (int)c->type, c->size, (double)c->load);
    cm_within(parted, 0.0, (double)c->error, "m, the worst joint: tree %d, joint type %d, %u, %g",
              (int)c->kind, (int)c->type, c->size, (double)c->load);
    cm_lab_close(&t.lab);
}

ParameterizedTestParameters(trees, gain_nothing)
{
    static tree_case cases[] = {
        {HALVES, CAROM_JOINT_BALL, false, 4, 20.0f, 0.0f, 0.05f},
        {STAR, CAROM_JOINT_BALL, false, 3, 20.0f, 0.0f, 0.05f},
        {COMB, CAROM_JOINT_BALL, false, 6, 20.0f, 0.0f, 0.05f},
        {STAR, CAROM_JOINT_HINGE, false, 3, 20.0f, 0.0f, 0.05f},
        {COMB, CAROM_JOINT_STEERING, false, 4, 20.0f, 2.0f, 0.05f},
        {HALVES, CAROM_JOINT_HINGE, true, 4, 20.0f, 3.0f, 0.2f},
        {STAR, CAROM_JOINT_BALL, false, 60, 5.0f, 3.0f, 0.05f},
        {HALVES, CAROM_JOINT_BALL, false, 4, 1.0f, 3.0f, 0.05f},
        {HALVES, CAROM_JOINT_BALL, false, 4, 100.0f, 3.0f, 0.15f},
        {COMB, CAROM_JOINT_BALL, false, 6, 1.0f, 0.0f, 0.05f},
        {HALVES, CAROM_JOINT_HINGE, false, 4, 100.0f, 3.0f, 0.1f},
        {STAR, CAROM_JOINT_HINGE, false, 3, 1000.0f, 0.0f, 0.05f},
        {HALVES, CAROM_JOINT_STEERING, false, 4, 20.0f, 3.0f, 0.05f},
        {HALVES, CAROM_JOINT_FIXED, false, 4, 20.0f, 0.0f, 0.01f},
    };
    return cr_make_param_array(tree_case, cases, test_count(7, sizeof cases / sizeof cases[0]));
}

ParameterizedTest(tree_case *c, trees, gain_nothing)
{
    swing(c, test_count(20, 300));
}
