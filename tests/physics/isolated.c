// Bodies that hang together in empty space: what holds them pushes both ends alike, so their common
// momentum and centre go on as they are (Newton's third law), and so does their angular momentum
// about any fixed point (Euler); energy may only be lost. Joints of every type, any masses.
#include "tests/physics/physics.h"

typedef struct totals {
    double mass;
    carom_dvec3 center, p, l;
} totals;

static carom_dvec3 cross(carom_dvec3 a, carom_dvec3 b)
{
    return (carom_dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static totals sum(const cm_lab *lab, const carom_body_id *ids, int count)
{
    totals t = {0};
    for (int i = 0; i < count; i++) {
        carom_body_state s = cm_lab_get(lab, ids[i]);
        double m = (double)s.mass;
        carom_dvec3 at = {(double)s.center_of_mass.x, (double)s.center_of_mass.y,
                          (double)s.center_of_mass.z};
        carom_dvec3 p = {m * (double)s.linear_velocity.x, m * (double)s.linear_velocity.y,
                         m * (double)s.linear_velocity.z};
        carom_dvec3 spin = cm_lab_angular_momentum(lab, ids[i]), arm = cross(at, p);
        t.mass += m;
        t.center =
            (carom_dvec3){t.center.x + m * at.x, t.center.y + m * at.y, t.center.z + m * at.z};
        t.p = (carom_dvec3){t.p.x + p.x, t.p.y + p.y, t.p.z + p.z};
        t.l = (carom_dvec3){t.l.x + spin.x + arm.x, t.l.y + spin.y + arm.y, t.l.z + spin.z + arm.z};
    }
    t.center = (carom_dvec3){t.center.x / t.mass, t.center.y / t.mass, t.center.z / t.mass};
    return t;
}

static double apart(carom_dvec3 a, carom_dvec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static float any(cm_case *c, double most)
{
    return (float)cm_draw(c, -most, most);
}

static void try_type(cm_case *c, carom_joint_type type)
{
    enum { MOST = 6 };
    int count = 2 + (int)cm_draw(c, 0.0, 4.9);
    carom_world_def def = cm_case_def(c, MOST);
    def.gravity = cm_vec(0, 0, 0);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.mask = 0;
    carom_body_id ids[MOST] = {{0}};
    double arms = 0.0, size = cm_draw(c, 0.1, 1.0);
    for (int i = 0; i < count; i++) {
        lab.surface.density = (float)cm_draw(c, 300.0, 3000.0);
        carom_vec3 at = cm_vec(2.2f * (float)(size * i), 0, 0);
        ids[i] = cm_lab_box(&lab, at, cm_vec((float)size, 0.5f * (float)size, 0.4f * (float)size));
        cm_lab_set_velocity(&lab, ids[i], cm_vec(any(c, 1.0), any(c, 1.0), any(c, 1.0)),
                            cm_vec(any(c, 2.0), any(c, 2.0), any(c, 2.0)));
        if (i > 0) {
            carom_joint_def joint = carom_default_joint_def();
            joint.type = type;
            joint.body_a = ids[i - 1];
            joint.body_b = ids[i];
            joint.anchor = cm_vec(at.x - 1.1f * (float)size, 0, 0);
            joint.anchor_b = type == CAROM_JOINT_DISTANCE ? at : joint.anchor;
            joint.axis = cm_vec(0, type == CAROM_JOINT_STEERING ? 0 : 1,
                                type == CAROM_JOINT_STEERING ? 1 : 0);
            joint.motor_max = type == CAROM_JOINT_MOTOR ? 1000.0f : joint.motor_max;
            cm_lab_join(&lab, &joint);
        }
    }
    cm_lab_run(&lab, 0.5); // what does not fit together has been stopped
    totals first = sum(&lab, ids, count);
    double e0 = cm_lab_kinetic(&lab), top = e0, seconds = 5.0;
    for (uint32_t tick = 0; tick < (uint32_t)(seconds * c->rate); tick++) {
        carom_world_step(lab.world);
        top = fmax(top, cm_lab_kinetic(&lab));
    }
    totals last = sum(&lab, ids, count);
    double scale = sqrt(2.0 * e0 * first.mass), span = 2.2 * size * count, t = seconds;
    carom_dvec3 want = {first.center.x + first.p.x / first.mass * t,
                        first.center.y + first.p.y / first.mass * t,
                        first.center.z + first.p.z / first.mass * t};
    arms = fmax(span, apart(want, (carom_dvec3){0}));
    cm_within(apart(last.p, first.p) / scale, 0.0, 1e-4,
              "of its momentum changed, joint type %d, %d", (int)type, count);
    cm_within(apart(last.center, want), 0.0, 1e-3 * span + 1e-4, "m that its centre left its line");
    cm_within(apart(last.l, first.l) / (scale * arms), 0.0, 0.02,
              "of its angular momentum changed, joint type %d, %d bodies", (int)type, count);
    cm_within(top / e0, 0.0, 1.01, "of its energy at most, joint type %d, %d bodies of %g m",
              (int)type, count, size);
    cm_lab_close(&lab);
}

cm_law(isolated, joined_bodies, SOFT | LCP, 2, 30)
{
    for (carom_joint_type type = CAROM_JOINT_BALL; type <= CAROM_JOINT_MOTOR; type++) {
        try_type(c, type);
    }
}
