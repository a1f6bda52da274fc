// Statics. What rests presses on what holds it: on two props by the lever's law (Archimedes, "On
// the Equilibrium of Planes"), on a joint by its weight and the torque of its weight about it. A
// chain between two points hangs in the polygon whose links carry one horizontal force H: link i of
// n, each of weight w, has the slope w (i - (n - 1) / 2) / H (Leibniz, Huygens and Johann Bernoulli
// 1691, of many links: the catenary).
#include "tests/physics/physics.h"

#define G 9.81

cm_law(statics, beam_on_two_props, SOFT | LCP | VOLUME, 3, 40)
{
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    double half = cm_draw(c, 0.3, 3.0), at = cm_draw(c, -0.7, 0.7) * half, load = 0.2 * half;
    lab.surface.density = (float)cm_draw(c, 100.0, 3000.0);
    carom_body_id props[2];
    for (int i = 0; i < 2; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
        body.type = CAROM_BODY_STATIC;
        body.report_force = true;
        body.position = cm_vec((i == 0 ? -0.9f : 0.9f) * (float)half, -0.1f * (float)half, 0);
        shape.half_extents = cm_vec(0.02f * (float)half, 0.1f * (float)half, 0.2f * (float)half);
        props[i] = cm_lab_add(&lab, &body, &shape);
    }
    float thick = 0.05f * (float)half;
    carom_body_id beam =
        cm_lab_box(&lab, cm_vec(0, thick, 0), cm_vec((float)half, thick, 0.1f * (float)half));
    lab.surface.density *= (float)cm_draw(c, 0.2, 5.0);
    carom_body_id box =
        cm_lab_box(&lab, cm_vec((float)at, 2.0f * thick + 0.5f * (float)load, 0),
                   cm_vec(0.5f * (float)load, 0.5f * (float)load, 0.5f * (float)load));
    double w1 = G * (double)cm_lab_get(&lab, beam).mass,
           w2 = G * (double)cm_lab_get(&lab, box).mass;
    cm_lab_run(&lab, 4.0);
    double left = 0.0, right = 0.0;
    for (uint32_t i = 0; i < c->rate; i++) {
        cm_lab_run(&lab, 1.0 / c->rate);
        left -= (double)cm_lab_get(&lab, props[0]).contact_force.y / c->rate;
        right -= (double)cm_lab_get(&lab, props[1]).contact_force.y / c->rate;
    }
    double want = 0.5 * w1 + w2 * (at / (0.9 * half) + 1.0) / 2.0;
    cm_within((left + right) / (w1 + w2), 0.995, 1.005, "of the weight on both props");
    cm_within((right - want) / (w1 + w2), -0.01, 0.01,
              "of the weight, off the lever's law, load %g of the beam at %g", w2 / w1, at / half);
    cm_lab_close(&lab);
}

// A beam held at one end, level: a fixed joint bears its weight and the weight's torque.
cm_law(statics, joint_bears_weight_and_torque, SOFT | LCP, 3, 40)
{
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    double half = cm_draw(c, 0.1, 2.0);
    lab.surface.density = (float)cm_draw(c, 100.0, 5000.0);
    carom_body_id beam = cm_lab_box(&lab, cm_vec((float)half, 0, 0),
                                    cm_vec((float)half, 0.2f * (float)half, 0.2f * (float)half));
    carom_joint_def joint = carom_default_joint_def();
    joint.type = CAROM_JOINT_FIXED;
    joint.body_b = beam;
    carom_joint_id id = cm_lab_join(&lab, &joint);
    double weight = G * (double)cm_lab_get(&lab, beam).mass;
    cm_lab_run(&lab, 3.0);
    carom_joint_state s = cm_lab_joint_get(&lab, id);
    cm_within((double)s.force / weight, 0.99, 1.01, "of the weight");
    cm_within((double)s.torque / (weight * half), 0.98, 1.02, "of its torque, half %g m", half);
    cm_within((double)s.error / half, 0.0, 0.01, "of its half length, apart");
    cm_lab_close(&lab);
}

// The horizontal force of n links of length l and weight w that span so much, by bisection.
static double horizontal_force(int links, double l, double w, double span)
{
    double low = 1e-6 * w, high = 1e6 * w;
    for (int k = 0; k < 200; k++) {
        double h = sqrt(low * high), x = 0.0;
        for (int i = 0; i < links; i++) {
            double slope = w * (i - 0.5 * (links - 1)) / h;
            x += l / sqrt(1.0 + slope * slope);
        }
        *(x < span ? &low : &high) = h;
    }
    return low;
}

cm_law(statics, catenary, SOFT | LCP, 2, 20)
{
    enum { MOST = 30 };
    int links = 2 * (int)cm_draw(c, 4.0, 15.0);
    double l = cm_draw(c, 0.1, 0.5), span = cm_draw(c, 0.4, 0.9) * links * l;
    carom_world_def def = cm_case_def(c, MOST + 2);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.density = (float)cm_draw(c, 200.0, 3000.0);
    carom_joint_def joint = carom_default_joint_def();
    joint.type = CAROM_JOINT_BALL;
    carom_joint_id first = {0}, middle = {0};
    // It begins as a vee of the same span, and falls into its polygon.
    double x = 0.0, y = 0.0, weight = 0.0, vee = acos(span / (links * l));
    for (int i = 0; i < links; i++) {
        double angle = 2 * i < links ? -vee : vee;
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
        body.position =
            cm_vec((float)(x + 0.5 * l * cos(angle)), (float)(y + 0.5 * l * sin(angle)), 0);
        body.orientation = (carom_quat){0, 0, (float)sin(0.5 * angle), (float)cos(0.5 * angle)};
        body.linear_damping = body.angular_damping = 1.0f;
        shape.half_extents = cm_vec(0.5f * (float)l, 0.1f * (float)l, 0.1f * (float)l);
        shape.mask = 0;
        joint.anchor = cm_vec((float)x, (float)y, 0);
        carom_body_id before = joint.body_b;
        joint.body_b = cm_lab_add(&lab, &body, &shape);
        joint.body_a = before;
        carom_joint_id id = cm_lab_join(&lab, &joint);
        first = i == 0 ? id : first;
        middle = i == links / 2 ? id : middle;
        weight = G * (double)cm_lab_get(&lab, joint.body_b).mass;
        x += l * cos(angle), y += l * sin(angle);
    }
    joint.anchor = cm_vec((float)x, (float)y, 0);
    joint.body_a = (carom_body_id){0};
    cm_lab_join(&lab, &joint);
    double h = horizontal_force(links, l, weight, hypot(x, y)), low = 0.0;
    for (int i = 0; i < links / 2; i++) {
        double slope = weight * (i - 0.5 * (links - 1));
        low += l * slope / hypot(slope, h);
    }
    cm_lab_run(&lab, 20.0);
    double sag = (double)cm_lab_joint_get(&lab, middle).anchor_b.y;
    cm_within(sag / low, 0.99, 1.01, "of the polygon's sag, %d links of %g m, span %g", links, l,
              x / (links * l));
    cm_within((double)cm_lab_joint_get(&lab, first).force / hypot(h, 0.5 * links * weight), 0.98,
              1.02, "of the force at its end");
    cm_lab_close(&lab);
}
