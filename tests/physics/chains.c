// Chains. A chain that hangs or swings from one end keeps its energy but for what the joints damp,
// and its joints hold whatever hangs at its end: nothing may be gained, since a joint does no work
// (d'Alembert). Links stand between two joints; the last one carries the load.
#include "tests/physics/physics.h"

#define G     9.81
#define PITCH 0.5f

typedef struct chain_case {
    carom_joint_type type;
    uint32_t links;
    float load;  // masses of a link
    float angle; // from straight down, degrees
    bool balls;  // round links
    bool mixed;  // every other joint names its bodies the other way round
    float seconds;
    float error; // m, the most that a joint may part
    carom_solver_type solver;
    float thrown; // m/s, of the end, across
} chain_case;

static cm_lab hang(const chain_case *c, double *height)
{
    float turn = c->angle * (float)CM_PI / 180.0f;
    carom_vec3 along = cm_vec(sinf(turn), -cosf(turn), 0.0f), z = cm_vec(0.0f, 0.0f, 1.0f);
    carom_world_def def = cm_lab_def(60, 128);
    def.solver.type = c->solver;
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    carom_body_id before = {0};
    *height = 0.0;
    for (uint32_t i = 0; i < c->links; i++) {
        bool loaded = i + 1 == c->links && c->load > 1.0f;
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, c->balls ? CAROM_SHAPE_SPHERE : CAROM_SHAPE_BOX);
        body.position = cm_scale(((float)i + 0.5f) * PITCH, along);
        body.orientation = (carom_quat){0.0f, 0.0f, sinf(0.5f * turn), cosf(0.5f * turn)};
        body.linear_velocity.z = c->thrown * (float)(i + 1) / (float)c->links;
        shape.radius = 0.2f;
        shape.half_extents = loaded ? cm_vec(0.25f, 0.25f, 0.25f) : cm_vec(0.05f, 0.25f, 0.05f);
        shape.density = loaded ? 40.0f * c->load : 1000.0f; // 5 kg a link
        shape.mask = 0;
        carom_body_id id = cm_lab_add(&lab, &body, &shape);
        carom_vec3 at = cm_scale((float)i * PITCH, along);
        bool swapped = c->mixed && i % 2 == 1;
        cm_lab_joint(&lab, c->type, swapped ? id : before, swapped ? before : id, at, z);
        double mass = (double)cm_lab_get(&lab, id).mass;
        *height += mass * G * ((double)body.position.y + ((double)i + 0.5) * (double)PITCH);
        before = id;
    }
    return lab;
}

static void run_chain(const chain_case *c)
{
    double height, most = 0.0, top = 0.0;
    cm_lab lab = hang(c, &height);
    double first = cm_lab_energy(&lab);
    height += cm_lab_kinetic(&lab);
    for (int tick = 0; tick < (int)(60.0f * c->seconds); tick++) {
        cm_lab_run(&lab, 1.0 / 60.0);
        most = fmax(most, cm_lab_joint_error(&lab));
        top = fmax(top, cm_lab_energy(&lab) - first);
    }
    cm_within(most, 0.0, (double)c->error, "m, the worst joint of %u links, load %g, %g degrees",
              c->links, (double)c->load, (double)c->angle);
    cm_within(top / fmax(height, 1.0), -1.0, 0.01, "gain of %u links, load %g, %g degrees, %s",
              c->links, (double)c->load, (double)c->angle, c->balls ? "balls" : "boxes");
    if (c->angle == 0.0f) {
        cm_within(cm_lab_fastest(&lab), 0.0, 0.1, "m/s of what hangs");
    }
    cm_lab_close(&lab);
}

ParameterizedTestParameters(chains, loads)
{
    static chain_case cases[] = {
        {CAROM_JOINT_BALL, 20, 30.0f, 90.0f, false, false, 20.0f, 0.1f},
        {CAROM_JOINT_BALL, 20, 50.0f, 90.0f, false, false, 20.0f, 0.1f},
        {CAROM_JOINT_BALL, 20, 100.0f, 90.0f, false, false, 20.0f, 0.1f},
        {CAROM_JOINT_BALL, 20, 100.0f, 60.0f, false, true, 20.0f, 0.1f},
        {CAROM_JOINT_BALL, 20, 30.0f, 0.0f, false, false, 20.0f, 0.001f},
        {CAROM_JOINT_BALL, 20, 50.0f, 0.0f, false, false, 20.0f, 0.001f},
        {CAROM_JOINT_BALL, 20, 100.0f, 0.0f, false, true, 20.0f, 0.001f},
        {CAROM_JOINT_HINGE, 20, 30.0f, 90.0f, false, false, 20.0f, 0.1f},
        {CAROM_JOINT_HINGE, 20, 50.0f, 90.0f, false, false, 20.0f, 0.1f},
        {CAROM_JOINT_HINGE, 20, 100.0f, 90.0f, false, false, 20.0f, 0.1f},
        {CAROM_JOINT_BALL, 20, 50.0f, 90.0f, false, false, 20.0f, 0.05f, CAROM_SOLVER_LCP},
        {CAROM_JOINT_BALL, 20, 100.0f, 90.0f, false, true, 20.0f, 0.05f, CAROM_SOLVER_LCP},
        {CAROM_JOINT_HINGE, 20, 1000.0f, 90.0f, false, false, 20.0f, 0.05f, CAROM_SOLVER_LCP},
        {CAROM_JOINT_BALL, 20, 1000.0f, 60.0f, true, false, 20.0f, 0.05f, CAROM_SOLVER_LCP},
        {CAROM_JOINT_BALL, 20, 1000.0f, 0.0f, false, true, 20.0f, 0.001f, CAROM_SOLVER_LCP},
    };
    return cr_make_param_array(chain_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(chain_case *c, chains, loads)
{
    run_chain(c);
}

ParameterizedTestParameters(chains, few_links_swing)
{
    static chain_case cases[] = {
        {CAROM_JOINT_BALL, 1, 1.0f, 90.0f, false, false, 300.0f, 0.01f},
        {CAROM_JOINT_BALL, 2, 1.0f, 90.0f, true, false, 300.0f, 0.01f},
        {CAROM_JOINT_BALL, 3, 1.0f, 90.0f, true, false, 300.0f, 0.01f},
        {CAROM_JOINT_BALL, 3, 1.0f, 120.0f, true, true, 300.0f, 0.01f},
        {CAROM_JOINT_BALL, 2, 1.0f, 90.0f, false, false, 300.0f, 0.01f},
        {CAROM_JOINT_BALL, 2, 1.0f, 60.0f, false, true, 300.0f, 0.01f},
        {CAROM_JOINT_HINGE, 2, 1.0f, 90.0f, false, false, 300.0f, 0.02f},
    };
    return cr_make_param_array(chain_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(chain_case *c, chains, few_links_swing)
{
    run_chain(c);
}

// A long chain cracks as a whip: links turn by a radian a substep.
ParameterizedTestParameters(chains, long_ones_gain_nothing)
{
    static chain_case cases[] = {
        {CAROM_JOINT_HINGE, 60, 1.0f, 90.0f, false, false, 10.0f, 0.3f, CAROM_SOLVER_SOFT, 0.0f},
        {CAROM_JOINT_HINGE, 100, 1.0f, 90.0f, false, false, 10.0f, 0.3f, CAROM_SOLVER_SOFT, 0.0f},
        {CAROM_JOINT_HINGE, 100, 1.0f, 120.0f, false, false, 10.0f, 0.3f, CAROM_SOLVER_SOFT, 0.0f},
        {CAROM_JOINT_STEERING, 60, 1.0f, 90.0f, false, false, 10.0f, 0.3f, CAROM_SOLVER_SOFT, 0.0f},
        {CAROM_JOINT_BALL, 60, 1.0f, 90.0f, false, false, 10.0f, 0.3f, CAROM_SOLVER_SOFT, 5.0f},
        {CAROM_JOINT_BALL, 100, 1.0f, 90.0f, false, false, 10.0f, 0.3f, CAROM_SOLVER_SOFT, 5.0f},
    };
    return cr_make_param_array(chain_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(chain_case *c, chains, long_ones_gain_nothing)
{
    run_chain(c);
}

// A bridge of hinged planks, held at both ends, with boxes dropped on it: it comes to rest, and
// they lie on it.
static void run_bridge(carom_joint_type type, uint32_t planks, uint32_t boxes)
{
    carom_world_def def = cm_lab_def(60, 256);
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    carom_body_id before = {0};
    carom_vec3 z = cm_vec(0.0f, 0.0f, 1.0f);
    for (uint32_t i = 0; i <= planks; i++) {
        carom_vec3 at = cm_vec(0.4f * (float)i, 10.0f, 0.0f);
        carom_body_id id = {0};
        if (i < planks) {
            carom_body_def body = carom_default_body_def();
            carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
            body.position = cm_vec(at.x + 0.2f, 10.0f, 0.0f);
            shape.half_extents = cm_vec(0.19f, 0.03f, 0.5f);
            id = cm_lab_add(&lab, &body, &shape);
        }
        bool last = i == planks; // the world stands first
        cm_lab_joint(&lab, type, last ? id : before, last ? before : id, at, z);
        before = id;
    }
    for (uint32_t i = 1; i <= boxes; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
        body.position = cm_vec(0.1f * (float)(planks * i), 11.0f, 0.0f);
        shape.half_extents = cm_vec(0.3f, 0.3f, 0.3f);
        shape.density = 250.0f;
        before = cm_lab_add(&lab, &body, &shape);
    }
    cm_lab_run(&lab, 30.0);
    cm_within(cm_lab_fastest(&lab), 0.0, 0.5, "m/s of a bridge of %u planks after 30 s", planks);
    if (boxes > 0) {
        cm_within((double)cm_lab_get(&lab, before).position.y, 5.0, 11.0, "m, the last box");
    }
    cm_lab_close(&lab);
}

Test(chains, bridges_of_hinges_come_to_rest)
{
    run_bridge(CAROM_JOINT_HINGE, 20, 3);
    run_bridge(CAROM_JOINT_HINGE, 60, 3);
}

// On balls a plank may tip, so nothing lies on them.
Test(chains, bridges_of_balls_come_to_rest)
{
    run_bridge(CAROM_JOINT_BALL, 5, 0);
    run_bridge(CAROM_JOINT_BALL, 20, 0);
    run_bridge(CAROM_JOINT_BALL, 60, 0);
}
