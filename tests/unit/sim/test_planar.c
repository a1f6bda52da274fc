// Goal: a planar world moves in x-y and turns about z to the bit, and its bodies weigh what their
// sections weigh. Method: areas and second moments against closed forms; a pile of all shapes whose
// z, tilt and velocities out of the plane must not change by a bit.
#include "tests/unit/sim/hulls.h"
#include "tests/unit/sim/rig.h"

#include "shared/sim/state/image.h"
#include "shared/sim/body/mass.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define PI 3.14159265358979

static const double RHO = 7.0;

static cm_mass weigh(const carom_shape_def *shape, carom_quat orientation)
{
    carom_body_def def = carom_default_body_def();
    def.orientation = orientation;
    return cm_mass_of(&def, shape, 1, true);
}

// About z, whatever the principal axes are called.
static double polar(const cm_mass *mass, carom_quat orientation)
{
    carom_quat axes = cm_quat_mul(orientation, mass->inertia_orientation);
    carom_vec3 z = cm_rotate_inverse(axes, cm_vec(0.0f, 0.0f, 1.0f));
    return (double)(mass->inertia.x * z.x * z.x + mass->inertia.y * z.y * z.y +
                    mass->inertia.z * z.z * z.z);
}

static void check(const char *name, const carom_shape_def *shape, carom_quat orientation,
                  double area, double second, double within)
{
    cm_mass mass = weigh(shape, orientation);
    cr_assert_float_eq((double)mass.mass, RHO * area, within * RHO * area, "%s: %g, expected %g",
                       name, (double)mass.mass, RHO * area);
    double found = polar(&mass, orientation);
    cr_assert_float_eq(found, RHO * second, within * RHO * second, "%s: I %g, expected %g", name,
                       found, RHO * second);
}

Test(planar, sections_match_closed_forms)
{
    const carom_quat none = cm_quat_identity(), turned = cm_rig_turn_z(0.7f);
    const carom_quat quarter_x = {0.70710678f, 0.0f, 0.0f, 0.70710678f};
    const carom_quat eighth_x = {0.38268343f, 0.0f, 0.0f, 0.92387953f};
    carom_shape_def s = carom_default_shape_def();
    s.density = (float)RHO;
    s.type = CAROM_SHAPE_SPHERE;
    s.radius = 0.5f;
    check("disc", &s, turned, PI * 0.25, PI * 0.0625 / 2.0, 1.0e-6);
    s.position = cm_vec(0.0f, 0.0f, 0.3f);
    check("cap", &s, none, PI * 0.16, PI * 0.0256 / 2.0, 1.0e-6);
    s.position = cm_vec(0.0f, 0.0f, 0.0f);
    s.type = CAROM_SHAPE_BOX;
    s.half_extents = cm_vec(0.5f, 0.25f, 2.0f);
    check("box", &s, turned, 0.5, 0.5 * (0.25 + 0.0625) / 3.0, 1.0e-6);
    // Leaning about x the height grows as 1 / cos.
    check("leaning box", &s, eighth_x, 0.5 * sqrt(2.0), 0.5 * sqrt(2.0) * (0.25 + 0.125) / 3.0,
          1.0e-6);
    s.type = CAROM_SHAPE_CAPSULE;
    s.radius = 0.2f;
    s.half_height = 0.5f;
    double r = 0.2, h = 0.5, ends = PI * r * r, bar = 4.0 * r * h;
    double stadium =
        bar * (h * h + r * r) / 3.0 + ends * (r * r / 2.0 + h * h) + 8.0 / 3.0 * h * r * r * r;
    check("stadium", &s, turned, bar + ends, stadium, 1.0e-6);
    check("standing capsule", &s, quarter_x, ends, ends * r * r / 2.0, 1.0e-6);
    s.type = CAROM_SHAPE_CYLINDER;
    check("rectangle", &s, turned, bar, bar * (h * h + r * r) / 3.0, 1.0e-6);
    check("standing cylinder", &s, quarter_x, ends, ends * r * r / 2.0, 1.0e-6);
    // An ellipse of half axes r and r sqrt 2.
    double ellipse = PI * r * r * sqrt(2.0);
    check("leaning cylinder", &s, eighth_x, ellipse, ellipse * (r * r + 2.0 * r * r) / 4.0, 1.0e-4);
}

Test(planar, a_hull_weighs_what_its_polygon_weighs)
{
    // A prism whose section at z = 0 is the triangle (0,0) (3,0) (0,6).
    const carom_vec3 points[6] = {{0.0f, 0.0f, -1.0f}, {3.0f, 0.0f, -1.0f}, {0.0f, 6.0f, -1.0f},
                                  {0.0f, 0.0f, 0.5f},  {3.0f, 0.0f, 0.5f},  {0.0f, 6.0f, 0.5f}};
    carom_shape_def s = carom_default_shape_def();
    s.type = CAROM_SHAPE_HULL;
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    s.hull = cm_hulls_add(&hulls, points, 6);
    s.density = (float)RHO;
    cm_mass mass = weigh(&s, cm_quat_identity());
    cr_assert_float_eq((double)mass.mass, RHO * 9.0, 1.0e-4);
    cr_assert_float_eq((double)mass.center_of_mass.x, 1.0, 1.0e-6);
    cr_assert_float_eq((double)mass.center_of_mass.y, 2.0, 1.0e-6);
    cr_assert_float_eq((double)mass.center_of_mass.z, 0.0, 1.0e-6);
    // Of a right triangle about its centroid: A (b^2 + h^2) / 18.
    double second = 9.0 * (9.0 + 36.0) / 18.0;
    cr_assert_float_eq(polar(&mass, cm_quat_identity()), RHO * second, 1.0e-4 * RHO * second);
    cm_hulls_close(&hulls);
}

Test(planar, a_shape_beside_the_plane_weighs_nothing)
{
    carom_shape_def s = carom_default_shape_def();
    s.type = CAROM_SHAPE_SPHERE;
    s.radius = 0.5f;
    s.position = cm_vec(0.0f, 0.0f, 0.6f);
    cr_assert_eq(weigh(&s, cm_quat_identity()).mass, 0.0f);
}

static carom_body_id drop(cm_rig *rig, uint32_t i)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    static const carom_shape_type types[] = {CAROM_SHAPE_SPHERE, CAROM_SHAPE_BOX,
                                             CAROM_SHAPE_CAPSULE, CAROM_SHAPE_CYLINDER};
    body.position = cm_vec(0.7f * (float)(i % 5) - 1.4f, 0.5f + 0.9f * (float)(i / 5),
                           i % 7 == 6 ? 0.04f : 0.0f);
    body.orientation = cm_rig_turn_z(0.3f * (float)i);
    body.linear_velocity = cm_vec(1.0f, 0.0f, 0.5f);
    body.angular_velocity = cm_vec(1.0f, 2.0f, 3.0f);
    shape.type = types[i % 4];
    shape.radius = 0.25f;
    shape.half_height = 0.2f;
    shape.half_extents = cm_vec(0.3f, 0.2f, 0.3f);
    shape.rolling_friction = i % 3 == 0 ? 0.05f : 0.0f;
    return cm_rig_body(rig, &body, &shape);
}

static double energy(const cm_rig *rig, uint32_t first, uint32_t end)
{
    double sum = 0.0;
    for (uint32_t slot = first; slot < end; slot++) {
        carom_body_state s = cm_rig_get(rig, carom_world_body_at(rig->world, slot));
        const cm_body *body = &cm_bodies(rig->world)[slot];
        cm_mass mass = {.inertia = body->inertia, .inertia_orientation = body->inertia_orientation};
        double w = (double)s.angular_velocity.z;
        sum += (double)s.mass * (0.5 * (double)cm_length_squared(s.linear_velocity) +
                                 9.81 * (double)s.center_of_mass.y) +
               0.5 * polar(&mass, s.orientation) * w * w;
    }
    return sum;
}

Test(planar, a_pile_stays_in_its_plane_to_the_bit)
{
    carom_world_def def = cm_rig_def(64);
    def.planar = true;
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(-2.5f, 1.0f, 0.0f), cm_vec(0.2f, 2.0f, 1.0f));
    cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(2.5f, 1.0f, 0.0f), cm_vec(0.2f, 2.0f, 1.0f));
    for (uint32_t i = 0; i < 30; i++) {
        drop(&rig, i);
    }
    cm_rig_step(&rig, 1); // velocities out of the plane go
    double before = energy(&rig, 3, 33), first = before;
    for (uint32_t tick = 0; tick < 600; tick++) {
        cm_rig_step(&rig, 1);
        for (uint32_t slot = 3; slot < 33; slot++) {
            const cm_motion *m = &cm_motions(rig.world)[slot];
            float z = (slot - 3) % 7 == 6 ? 0.04f : 0.0f;
            cr_assert(m->position.z == z && m->orientation.x == 0.0f && m->orientation.y == 0.0f &&
                          m->linear_velocity.z == 0.0f && m->angular_velocity.x == 0.0f &&
                          m->angular_velocity.y == 0.0f,
                      "body %u tick %u", slot, tick);
        }
        double now = energy(&rig, 3, 33);
        // What lands is pushed out of its overlap: in one of 30 such piles by .2% in a tick or
        // more.
        cr_assert_leq(now, before + 1.5e-2 * first, "tick %u: %g after %g", tick, now, before);
        before = fmin(before, now);
    }
    uint32_t touching;
    double penetration;
    carom_world_measure_contacts(rig.world, &touching, &penetration);
    cr_assert_gt(touching, 30);
    cr_assert_lt(penetration, 0.01);
    for (uint32_t slot = 3; slot < 33; slot++) {
        cr_assert_lt(cm_length(cm_motions(rig.world)[slot].linear_velocity), 0.1f, "body %u", slot);
    }
    cm_rig_close(&rig);
}

// The rope of two links and a hinge in the plane: nothing to hold by along z, and yet it holds.
Test(planar, joints_hold_in_the_plane)
{
    carom_world_def def = cm_rig_def(64);
    def.planar = true;
    cm_rig rig = cm_rig_open(&def, 0);
    static const carom_joint_type types[] = {CAROM_JOINT_BALL, CAROM_JOINT_HINGE,
                                             CAROM_JOINT_DISTANCE, CAROM_JOINT_FIXED,
                                             CAROM_JOINT_PRISMATIC};
    for (uint32_t i = 0; i < 5; i++) {
        carom_joint_def joint = carom_default_joint_def();
        float x = 4.0f * (float)i;
        joint.type = types[i];
        joint.body_b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(x + 1.0f, 5.0f, 0.0f),
                                  cm_vec(0.5f, 0.1f, 0.1f));
        joint.anchor = cm_vec(x, 5.0f, 0.0f);
        joint.anchor_b = cm_vec(x + 0.5f, 5.0f, 0.0f);
        joint.axis = joint.type == CAROM_JOINT_PRISMATIC ? cm_vec(1.0f, 0.0f, 0.0f)
                                                         : cm_vec(0.0f, 0.0f, 1.0f);
        cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    }
    cm_rig_step(&rig, 180);
    for (uint32_t i = 0; i < 5; i++) {
        carom_joint_state state;
        cr_assert_eq(carom_joint_get(rig.world, carom_world_joint_at(rig.world, i), &state),
                     CAROM_OK);
        cr_assert_lt(state.error, 0.01f, "joint %u", i);
        cr_assert_lt(state.force, 60.0f * cm_bodies(rig.world)[i].mass, "joint %u: %g N", i,
                     (double)state.force);
        cr_assert_lt(state.torque, 20.0f * cm_bodies(rig.world)[i].mass, "joint %u: %g N m", i,
                     (double)state.torque);
    }
    cm_rig_close(&rig);
}
