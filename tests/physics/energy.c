// Energy of what swings on joints: a joint does no work, so it is never above where it began
// (d'Alembert), for five minutes, joints of every type, 1 to 20 links, let go from rest, pushed
// and thrown about. What joints damp is theirs; a spring that holds is one that gives back.
// `make test` looks at ten seconds of few.
#include "tests/physics/physics.h"
#include "tests/unit/counts.h"

#define G 9.81

typedef struct swing_case {
    carom_solver_type solver;
    carom_joint_type type;
    uint32_t links;
    float speed;  // m/s, of the last link
    float across; // of it: out of the plane
} swing_case;

// Level, along x; its last link is pushed along -y and across.
static double hang(cm_lab *lab, const swing_case *c)
{
    carom_body_id before = {0};
    double height = 0.0;
    for (uint32_t i = 0; i < c->links; i++) {
        carom_vec3 at = cm_vec(0.5f * ((float)i + 0.5f), 0, 0);
        carom_body_id id = cm_lab_box(lab, at, cm_vec(0.25f, 0.05f, 0.05f));
        carom_joint_def joint = carom_default_joint_def();
        joint.type = c->type;
        joint.body_a = before;
        joint.body_b = id;
        joint.anchor = joint.anchor_b = cm_vec(0.5f * (float)i, 0, 0);
        joint.axis = cm_vec(0, 0, 1);
        joint.steering_axis = cm_vec(0, 1, 0);
        if (c->type == CAROM_JOINT_DISTANCE) {
            joint.anchor = cm_vec(at.x - (i == 0 ? 0.25f : 0.5f), 0, 0);
            joint.anchor_b = at;
        }
        if (c->type == CAROM_JOINT_PRISMATIC) {
            joint.axis = cm_vec(0, 1, 0);
            joint.has_limits = true;
            joint.lower = -0.2f;
            joint.upper = 0.2f;
        }
        cm_lab_join(lab, &joint);
        before = id;
        height += (double)cm_lab_get(lab, id).mass * G * 0.5 * (i + 0.5);
    }
    cm_lab_set_velocity(lab, before, cm_vec(0, -c->speed, c->across * c->speed), cm_vec(0, 0, 0));
    return height;
}

// The largest energy of so many seconds over that of the start, as a share of what falling down
// straight would give.
static double gain(const swing_case *c, double seconds)
{
    carom_world_def def = cm_lab_def(60, 32);
    def.solver.type = c->solver;
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    lab.surface.mask = 0;
    double height = hang(&lab, c), e0 = cm_lab_energy(&lab), top = e0;
    for (uint32_t tick = 0; tick < (uint32_t)(60.0 * seconds); tick++) {
        carom_world_step(lab.world);
        top = tick % 3 == 0 ? fmax(top, cm_lab_energy(&lab)) : top;
    }
    cm_lab_close(&lab);
    return (top - e0) / (height + e0);
}

ParameterizedTestParameters(energy, never_grows)
{
    static const uint32_t links[] = {1, 2, 3, 5, 10, 20};
    static const float speeds[] = {0.0f, 3.0f, 10.0f};
    static swing_case cases[2 * 6 * 6 * 3];
    uint32_t count = 0, full = test_count(0, 1);
    for (int s = 0; s < 2; s++) {
        carom_solver_type solver = s == 0 ? CAROM_SOLVER_SOFT : CAROM_SOLVER_LCP;
        for (carom_joint_type type = CAROM_JOINT_BALL; type <= CAROM_JOINT_DISTANCE; type++) {
            for (int i = 0; i < 18; i++) {
                if (full != 0 || i == 4) {
                    cases[count++] = (swing_case){solver, type, links[i / 3], speeds[i % 3], 0.3f};
                }
            }
        }
    }
    return cr_make_param_array(swing_case, cases, count);
}

ParameterizedTest(swing_case *c, energy, never_grows)
{
    double seconds = test_count(10, 300);
    cm_within(gain(c, seconds), -1.0, 0.01, "gained in %g s, %s, joint type %d, %u links, %g m/s",
              seconds, cm_solver_name(c->solver), (int)c->type, c->links, (double)c->speed);
}
