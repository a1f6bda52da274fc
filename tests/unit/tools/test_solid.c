// Goal: the depths that quality is judged by are exact.
// Method: each pair of kinds against closed forms (faces, edges, corners, one inside the other,
// degenerate lengths), symmetric in its arguments; segment and box also against dense sampling of
// seeded random poses, which can only come out farther apart.
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "server/tools/bench/solid.h"

#define EXACT 1e-6 // m: shapes are defined in binary32

static const double UPRIGHT[4] = {0.0, 0.0, 0.0, 1.0};

static carom_shape_def round_def(float radius, float half_height)
{
    carom_shape_def def = carom_default_shape_def();
    def.type = half_height > 0.0f ? CAROM_SHAPE_CAPSULE : CAROM_SHAPE_SPHERE;
    def.radius = radius;
    def.half_height = half_height;
    return def;
}

static carom_shape_def box_def(float x, float y, float z)
{
    carom_shape_def def = carom_default_shape_def();
    def.type = CAROM_SHAPE_BOX;
    def.half_extents = (carom_vec3){x, y, z};
    return def;
}

static cm_solid place(carom_shape_def def, double x, double y, double z, const double turn[4])
{
    cm_solid solid;
    const double position[3] = {x, y, z};
    cr_assert(cm_solid_place(&solid, &def, position, turn));
    return solid;
}

static void turn_about(double x, double y, double z, double angle, double turn[4])
{
    double length = sqrt(x * x + y * y + z * z), s = sin(0.5 * angle) / length;
    turn[0] = s * x;
    turn[1] = s * y;
    turn[2] = s * z;
    turn[3] = cos(0.5 * angle);
}

static void expect_depth(cm_solid a, cm_solid b, double depth)
{
    cr_assert_float_eq(cm_solid_depth(&a, &b), depth, EXACT, "%.9f is not %.9f",
                       cm_solid_depth(&a, &b), depth);
    cr_assert_float_eq(cm_solid_depth(&b, &a), depth, EXACT, "not symmetric");
}

Test(solid, spheres)
{
    cm_solid a = place(round_def(0.5f, 0.0f), 1.0, 2.0, 3.0, UPRIGHT);
    expect_depth(a, place(round_def(0.25f, 0.0f), 1.0, 2.0, 3.7, UPRIGHT), 0.05);
    expect_depth(a, place(round_def(0.25f, 0.0f), 1.3, 2.4, 3.0, UPRIGHT), 0.25);
    expect_depth(a, place(round_def(0.25f, 0.0f), 1.0, 3.0, 3.0, UPRIGHT), -0.25);
    expect_depth(a, a, 1.0);
}

Test(solid, capsules)
{
    double lying[4], tilted[4];
    turn_about(0.0, 0.0, 1.0, M_PI / 2.0, lying);  // along x
    turn_about(1.0, 0.0, 0.0, M_PI / 2.0, tilted); // along z
    cm_solid a = place(round_def(0.2f, 1.0f), 0.0, 0.0, 0.0, lying);
    cm_solid crossing = place(round_def(0.3f, 1.0f), 0.4, 0.45, -0.3, tilted);
    expect_depth(a, crossing, 0.05);
    cm_solid parallel = place(round_def(0.3f, 1.0f), 1.5, 0.4, 0.0, lying);
    expect_depth(a, parallel, 0.1);
    cm_solid in_line = place(round_def(0.3f, 1.0f), 2.4, 0.0, 0.0, lying);
    expect_depth(a, in_line, 0.1);
    cm_solid end_to_side = place(round_def(0.3f, 1.0f), 0.5, 1.4, 0.0, UPRIGHT);
    expect_depth(a, end_to_side, 0.1);
    cm_solid end_to_end = place(round_def(0.3f, 1.0f), 1.3, 1.4, 0.0, UPRIGHT);
    expect_depth(a, end_to_end, 0.5 - 0.5);
    cm_solid met = place(round_def(0.3f, 1.0f), 0.0, 0.0, 0.0, tilted);
    expect_depth(a, met, 0.5);
}

Test(solid, sphere_and_box)
{
    cm_solid box = place(box_def(1.0f, 2.0f, 3.0f), 0.0, 0.0, 0.0, UPRIGHT);
    expect_depth(box, place(round_def(0.5f, 0.0f), 1.4, 0.0, 0.0, UPRIGHT), 0.1);
    expect_depth(box, place(round_def(0.5f, 0.0f), 1.3, 2.4, 0.0, UPRIGHT), 0.0);
    expect_depth(box, place(round_def(0.75f, 0.0f), 1.2, 2.4, 3.4, UPRIGHT), 0.15);
    expect_depth(box, place(round_def(0.5f, 0.0f), 0.75, 0.0, 0.0, UPRIGHT), 0.75);
    expect_depth(box, place(round_def(0.5f, 0.0f), 0.0, 0.0, 0.0, UPRIGHT), 1.5);
}

Test(solid, capsule_and_box)
{
    double lying[4], diagonal[4];
    turn_about(0.0, 0.0, 1.0, -M_PI / 2.0, lying);
    turn_about(0.0, 0.0, 1.0, M_PI / 4.0, diagonal); // from +x -y to -x +y
    cm_solid box = place(box_def(1.0f, 1.0f, 1.0f), 0.0, 0.0, 0.0, UPRIGHT);
    // Lying on the top face, its ends beyond the edges.
    expect_depth(box, place(round_def(0.2f, 5.0f), 0.0, 1.15, 0.0, lying), 0.05);
    // Standing on it.
    expect_depth(box, place(round_def(0.2f, 0.5f), 0.3, 1.65, 0.0, UPRIGHT), 0.05);
    // Its side on the edge along z at (1, 1): the segment's line is x + y = c.
    expect_depth(box, place(round_def(0.2f, 3.0f), 1.1, 1.1, 0.0, diagonal), 0.2 - 0.1 * M_SQRT2);
    // The segment itself cuts the edge off: out again across the edge, not through a face.
    expect_depth(box, place(round_def(0.2f, 3.0f), 0.9, 0.9, 0.0, diagonal), 0.2 + 0.1 * M_SQRT2);
    // Stuck deep into the top: back out along the segment.
    expect_depth(box, place(round_def(0.2f, 1.0f), 0.0, 1.5, 0.0, UPRIGHT), 0.2 + 0.5);
}

Test(solid, boxes)
{
    double about_x[4], about_z[4], about_y[4];
    turn_about(1.0, 0.0, 0.0, M_PI / 4.0, about_x);
    turn_about(0.0, 0.0, 1.0, M_PI / 4.0, about_z);
    turn_about(0.0, 1.0, 0.0, 0.7, about_y);
    cm_solid a = place(box_def(0.5f, 0.5f, 0.5f), 0.0, 0.0, 0.0, UPRIGHT);
    expect_depth(a, place(box_def(0.5f, 0.5f, 0.5f), 0.2, 0.99, 0.1, UPRIGHT), 0.01);
    expect_depth(a, place(box_def(0.5f, 0.5f, 0.5f), 0.2, 1.01, 0.1, UPRIGHT), -0.01);
    expect_depth(a, place(box_def(0.5f, 0.5f, 0.5f), 0.0, 0.97, 0.0, about_y), 0.03);
    // An edge of b stands on the top of a.
    expect_depth(a, place(box_def(0.5f, 0.5f, 0.5f), 0.0, 0.48 + M_SQRT1_2, 0.0, about_z), 0.02);
    // Edge across edge: neither's face normal, only the product of the edges tells.
    cm_solid ridge = place(box_def(0.5f, 0.5f, 0.5f), 0.0, 0.0, 0.0, about_x);
    expect_depth(ridge, place(box_def(0.5f, 0.5f, 0.5f), 0.0, M_SQRT2 - 0.03, 0.0, about_z), 0.03);
    expect_depth(ridge, place(box_def(0.5f, 0.5f, 0.5f), 0.0, M_SQRT2 + 0.03, 0.0, about_z), -0.03);
}

Test(solid, planes)
{
    double tilted[4];
    turn_about(0.0, 0.0, 1.0, M_PI / 4.0, tilted);
    carom_shape_def def = carom_default_shape_def();
    def.type = CAROM_SHAPE_PLANE;
    def.normal = (carom_vec3){0.0f, 2.0f, 0.0f}; // any length
    def.offset = 0.5f;
    cm_solid floor_ = place(def, 0.0, 1.0, 0.0, UPRIGHT); // at y = 1.5
    expect_depth(floor_, place(round_def(0.5f, 0.0f), 7.0, 1.9, 0.0, UPRIGHT), 0.1);
    expect_depth(floor_, place(round_def(0.5f, 1.0f), 7.0, 2.9, 0.0, UPRIGHT), 0.1);
    expect_depth(floor_, place(box_def(0.5f, 0.5f, 0.5f), 7.0, 1.45 + M_SQRT1_2, 0.0, tilted),
                 0.05);
    cm_solid slope = place(def, 0.0, 0.0, 0.0, tilted); // normal (-1, 1, 0) / sqrt 2, offset 0.5
    expect_depth(slope, place(round_def(0.5f, 0.0f), -M_SQRT1_2, M_SQRT1_2, 0.0, UPRIGHT), 0.0);
}

// A shape away from its body's origin, turned there and turned with the body.
Test(solid, places_compose)
{
    double up[4];
    turn_about(0.0, 0.0, 1.0, M_PI / 2.0, up);
    carom_shape_def def = round_def(0.1f, 1.0f);
    def.position = (carom_vec3){2.0f, 0.0f, 0.0f};
    def.orientation = (carom_quat){0.0f, 0.0f, (float)M_SQRT1_2, (float)M_SQRT1_2};
    cm_solid solid = place(def, 10.0, 0.0, 0.0, up);
    cr_assert_float_eq(solid.center[0], 10.0, EXACT);
    cr_assert_float_eq(solid.center[1], 2.0, EXACT);
    cr_assert_float_eq(fabs(solid.axis[1][1]), 1.0, EXACT, "half a turn in all");
    double lower[3], upper[3];
    cm_solid_bounds(&solid, lower, upper);
    cr_assert_float_eq(lower[1], 0.9, EXACT);
    cr_assert_float_eq(upper[1], 3.1, EXACT);
    cr_assert_float_eq(upper[0], 10.1, EXACT);
}

static double chance(uint64_t *state) // -1 to 1
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 33) / (double)(1u << 30) - 1.0;
}

// Distance of a point from a box, in the box's frame; 0 inside.
static double point_distance(const cm_solid *box, const double point[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double x = 0.0;
        for (int k = 0; k < 3; k++) {
            x += box->axis[i][k] * (point[k] - box->center[k]);
        }
        double beyond = fmax(fabs(x) - box->half[i], 0.0);
        sum += beyond * beyond;
    }
    return sqrt(sum);
}

// Depth of the solid after a move along a direction of any length but zero.
static double depth_moved(cm_solid moved, const cm_solid *other, const double direction[3],
                          double distance)
{
    double length = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                         direction[2] * direction[2]);
    for (int i = 0; i < 3 && length > 0.0; i++) {
        moved.center[i] += distance * direction[i] / length;
    }
    return cm_solid_depth(&moved, other);
}

// A depth is the least move that parts two shapes: none does it in less. Where the segment itself
// has entered the box, one of the axes of the two does it.
static void expect_least_move(const cm_solid *capsule, const cm_solid *box, double depth,
                              bool entered, uint64_t *state)
{
    double freed = HUGE_VAL;
    for (int i = 0; i < 6 && entered; i++) {
        const double *axis = box->axis[i % 3], *d = capsule->axis[1];
        double n[3] = {axis[0], axis[1], axis[2]};
        if (i >= 3) {
            n[0] = axis[1] * d[2] - axis[2] * d[1];
            n[1] = axis[2] * d[0] - axis[0] * d[2];
            n[2] = axis[0] * d[1] - axis[1] * d[0];
        }
        freed = fmin(freed, depth_moved(*capsule, box, n, depth));
        freed = fmin(freed, depth_moved(*capsule, box, n, -depth));
    }
    cr_assert(!entered || freed < 1e-9, "a move by the depth frees it");
    for (int i = 0; i < 50; i++) {
        double n[3] = {chance(state), chance(state), chance(state) + 1e-3};
        cr_assert_gt(depth_moved(*capsule, box, n, 0.999 * depth), 0.0, "less does not");
    }
}

Test(solid, random_capsules_against_samples)
{
    uint64_t state = 7;
    int apart = 0, overlapping = 0, entered = 0;
    for (int round = 0; round < 2000; round++) {
        double turn_a[4], turn_b[4];
        for (int i = 0; i < 4; i++) {
            turn_a[i] = chance(&state) + 1e-3;
            turn_b[i] = chance(&state) + 1e-3;
        }
        cm_solid box = place(box_def(0.3f, 0.5f, 0.8f), 0.0, 0.0, 0.0, turn_a);
        cm_solid capsule = place(round_def(0.1f, 0.7f), 1.6 * chance(&state), 1.6 * chance(&state),
                                 1.6 * chance(&state), turn_b);
        double least = HUGE_VAL, radius = capsule.half[0];
        for (int i = 0; i <= 1000; i++) {
            double point[3];
            for (int k = 0; k < 3; k++) {
                point[k] =
                    capsule.center[k] + (0.002 * i - 1.0) * capsule.half[1] * capsule.axis[1][k];
            }
            least = fmin(least, point_distance(&box, point));
        }
        double depth = cm_solid_depth(&capsule, &box);
        cr_assert_geq(depth + 1e-12, radius - least, "never farther than a sample says");
        if (least > 0.0) {
            cr_assert_leq(depth, radius - least + 1e-3, "nor nearer than samples allow");
        }
        if (depth > 0.0) {
            expect_least_move(&capsule, &box, depth, least <= 0.0, &state);
        }
        apart += depth < 0.0;
        overlapping += depth > 0.0;
        entered += least <= 0.0;
    }
    cr_assert(apart > 500 && overlapping > 200 && entered > 150, "%d %d %d", apart, overlapping,
              entered);
}

Test(solid, who_may_meet)
{
    cm_solid a = place(round_def(0.5f, 0.0f), 0.0, 0.0, 0.0, UPRIGHT), b = a;
    b.body = 1;
    cr_assert_not(cm_solid_may_meet(&a, &b), "neither can move");
    a.movable = true;
    cr_assert(cm_solid_may_meet(&a, &b));
    b.mask = 0;
    cr_assert_not(cm_solid_may_meet(&a, &b));
    a.group = b.group = 3;
    cr_assert(cm_solid_may_meet(&a, &b), "a positive group always");
    a.group = b.group = -3;
    b.mask = a.mask;
    cr_assert_not(cm_solid_may_meet(&a, &b), "a negative group never");
    a.group = b.group = 0;
    b.body = 0;
    cr_assert_not(cm_solid_may_meet(&a, &b), "one body");
}
