// Goal: a hull is the convex hull of its points, whatever their order, with the mass of what it
// encloses; what spans no volume is refused. Method: random points against brute force (every point
// behind every face, every vertex a point, Euler's formula); mass against closed forms and against
// sums over tetrahedra from another corner; rows of refusals.
#include "tests/unit/sim/hulls.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void expect_hull_of(const carom_hull *hull, const carom_vec3 *points, uint32_t count)
{
    cr_assert_eq(hull->vertex_count + hull->face_count, hull->edge_count + 2);
    cr_assert_eq(hull->first[hull->face_count], 2 * hull->edge_count);
    for (uint32_t f = 0; f < hull->face_count; f++) {
        cr_assert_float_eq(cm_length(hull->normals[f]), 1.0f, 1.0e-6f);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert_leq(cm_dot(hull->normals[f], points[i]), hull->offsets[f] + 3.0e-5f);
        }
        for (uint32_t i = hull->first[f]; i < hull->first[f + 1]; i++) {
            float off = cm_dot(hull->normals[f], hull->vertices[hull->loop[i]]) - hull->offsets[f];
            cr_assert_leq(fabsf(off), 3.0e-5f);
        }
    }
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        bool given = false;
        for (uint32_t k = 0; k < count; k++) {
            given = given || cm_length(cm_sub(points[k], hull->vertices[i])) == 0.0f;
        }
        cr_assert(given, "a vertex is one of the points");
    }
    for (uint32_t i = 0; i < hull->edge_count; i++) {
        cr_assert_neq(hull->edges[i].face[0], hull->edges[i].face[1]);
        cr_assert_lt(hull->edges[i].vertex[0], hull->edges[i].vertex[1]);
    }
}

Test(hull, random_points_in_any_order)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    uint64_t state = 5;
    for (uint32_t round = 0; round < 200; round++) {
        carom_vec3 points[60];
        uint32_t count = 4 + round % 57;
        for (uint32_t i = 0; i < count; i++) {
            points[i] = cm_hulls_vec(&state, 1.0f);
        }
        const carom_hull *hull = cm_hulls_add(&hulls, points, count);
        expect_hull_of(hull, points, count);
        for (uint32_t i = count - 1; i > 0; i--) {
            uint32_t k = (uint32_t)(cm_hulls_unit(&state) * (float)i);
            carom_vec3 swap = points[i];
            points[i] = points[k];
            points[k] = swap;
        }
        cr_assert_eq(cm_hulls_add(&hulls, points, count)->id, hull->id, "round %u", round);
    }
    cm_hulls_close(&hulls);
}

// Points on a coarse grid: many in one plane, on one edge, doubled.
Test(hull, grids_have_merged_faces)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    carom_vec3 points[125];
    for (uint32_t i = 0; i < 125; i++) {
        points[i] = cm_vec(0.25f * (float)(i % 5), 0.5f * (float)(i / 5 % 5), (float)(i / 25));
    }
    const carom_hull *hull = cm_hulls_add(&hulls, points, 125);
    cr_assert_eq(hull->vertex_count, 8);
    cr_assert_eq(hull->face_count, 6);
    cr_assert_eq(hull->edge_count, 12);
    cr_assert_float_eq(hull->volume, 8.0, 1.0e-12);
    cr_assert_eq(cm_hulls_die(&hulls, 0.4f)->face_count, 12);
    uint64_t state = 8;
    for (uint32_t round = 0; round < 100; round++) {
        uint32_t count = 0;
        for (; count < 40; count++) {
            carom_vec3 p = cm_hulls_vec(&state, 2.5f);
            points[count] = cm_vec((float)(int)p.x, (float)(int)p.y, (float)(int)p.z);
        }
        expect_hull_of(cm_hulls_add(&hulls, points, count), points, count);
    }
    cm_hulls_close(&hulls);
}

// Faces as a caller gets them: counter-clockwise from outside, so that the sum of the tetrahedra
// from the origin is the volume; vertices in ascending order.
Test(hull, faces_and_vertices_can_be_read)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    uint64_t state = 9;
    for (uint32_t round = 0; round < 20; round++) {
        carom_vec3 points[12];
        for (uint32_t i = 0; i < 12; i++) {
            points[i] = cm_hulls_vec(&state, 1.0f);
        }
        const carom_hull *hull = cm_hulls_add(&hulls, points, 12);
        uint32_t vertex_count, corners, face = 0;
        const carom_vec3 *vertices = carom_hull_vertices(hull, &vertex_count);
        for (uint32_t i = 1; i < vertex_count; i++) {
            cr_assert_leq(vertices[i - 1].x, vertices[i].x);
        }
        double volume = 0.0;
        for (const uint8_t *loop; (loop = carom_hull_face(hull, face, &corners)) != NULL; face++) {
            for (uint32_t i = 2; i < corners; i++) {
                carom_vec3 cross = cm_cross(vertices[loop[i - 1]], vertices[loop[i]]);
                volume += (double)cm_dot(vertices[loop[0]], cross) / 6.0;
            }
        }
        cr_assert_eq(corners, 0);
        cr_assert_eq(face, hull->face_count);
        cr_assert_float_eq(volume, carom_hull_volume(hull), 1.0e-5);
    }
    cm_hulls_close(&hulls);
}

Test(hull, mass_is_that_of_the_solid)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    const carom_hull *box = cm_hulls_box(&hulls, cm_vec(0.5f, 1.0f, 1.5f));
    cr_assert_float_eq(box->volume, 6.0, 1.0e-12);
    cr_assert_float_eq(box->tensor[0][0], 6.0 / 3.0 * (1.0 + 2.25), 1.0e-12);
    cr_assert_float_eq(box->tensor[1][1], 6.0 / 3.0 * (0.25 + 2.25), 1.0e-12);
    cr_assert_float_eq(box->tensor[2][2], 6.0 / 3.0 * (0.25 + 1.0), 1.0e-12);
    cr_assert_float_eq(box->tensor[0][1], 0.0, 1.0e-12);
    const carom_vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const carom_hull *tetra = cm_hulls_add(&hulls, corner, 4);
    cr_assert_float_eq(tetra->volume, 1.0 / 6.0, 1.0e-15);
    cr_assert_float_eq(tetra->centroid[0], 0.25, 1.0e-15);
    // Integral of y^2 + z^2 about the corner is 2/60; moved to the centroid.
    cr_assert_float_eq(tetra->tensor[0][0], 2.0 / 60.0 - 2.0 / 6.0 / 16.0, 1.0e-15);
    cr_assert_float_eq(tetra->tensor[0][1], -(1.0 / 120.0 - 1.0 / 6.0 / 16.0), 1.0e-15);
    cm_hulls_close(&hulls);
}

// Volumes from another corner than the builder's: each face's fan against vertex 0.
Test(hull, volume_against_tetrahedra_from_a_vertex)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    uint64_t state = 31;
    for (uint32_t round = 0; round < 100; round++) {
        const carom_hull *hull = cm_hulls_random(&hulls, &state, 30, 1.0f);
        double sum = 0.0;
        const carom_vec3 *o = &hull->vertices[0];
        for (uint32_t f = 0; f < hull->face_count; f++) {
            const uint8_t *loop = hull->loop + hull->first[f];
            for (uint32_t i = 1; i + 1u < (uint32_t)(hull->first[f + 1] - hull->first[f]); i++) {
                double m[3][3];
                for (uint32_t k = 0; k < 3; k++) {
                    const carom_vec3 *v = &hull->vertices[loop[k == 0 ? 0 : i + k - 1]];
                    m[k][0] = (double)v->x - o->x;
                    m[k][1] = (double)v->y - o->y;
                    m[k][2] = (double)v->z - o->z;
                }
                sum += (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) +
                        m[0][1] * (m[1][2] * m[2][0] - m[1][0] * m[2][2]) +
                        m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
                       6.0;
            }
        }
        cr_assert_float_eq(sum, hull->volume, 1.0e-12);
    }
    cm_hulls_close(&hulls);
}

Test(hull, what_spans_nothing_is_refused)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    static carom_vec3 many[CAROM_HULL_POINTS_MAX + 1];
    uint64_t state = 2;
    for (uint32_t i = 0; i <= CAROM_HULL_POINTS_MAX; i++) {
        many[i] = cm_normalize(cm_hulls_vec(&state, 1.0f));
    }
    carom_vec3 flat[20], line[20], same[20], bad[4], far[4];
    for (uint32_t i = 0; i < 20; i++) {
        carom_vec3 v = cm_hulls_vec(&state, 1.0f);
        flat[i] = cm_vec(v.x, v.y, v.x + v.y + 1.0e-6f * v.z);
        line[i] = cm_scale(v.x, cm_vec(1.0f, -2.0f, 0.5f));
        same[i] = cm_vec(3.0f, 4.0f, 5.0f);
    }
    for (uint32_t i = 0; i < 4; i++) {
        bad[i] = far[i] = many[i];
    }
    bad[3].y = NAN;
    far[2].z = 2.0e6f;
    const struct {
        const carom_vec3 *points;
        uint32_t count;
        carom_result result;
        const char *why;
    } cases[] = {
        {many, 3, CAROM_ERROR_ARGUMENT, "fewer than 4"},
        {NULL, 0, CAROM_ERROR_ARGUMENT, "fewer than 4"},
        {flat, 20, CAROM_ERROR_ARGUMENT, "one plane"},
        {line, 20, CAROM_ERROR_ARGUMENT, "one line"},
        {same, 20, CAROM_ERROR_ARGUMENT, "one place"},
        {bad, 4, CAROM_ERROR_NOT_FINITE, "not finite"},
        {far, 4, CAROM_ERROR_ARGUMENT, "1e6"},
        {many, 100, CAROM_ERROR_LIMIT_SIZE, "64 vertices"},
        {many, CAROM_HULL_POINTS_MAX + 1, CAROM_ERROR_LIMIT_SIZE, "4096"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        carom_hull *hull = (carom_hull *)&hulls;
        cr_expect_eq(carom_hull_create(cases[i].points, cases[i].count, &hulls.allocator, &hull),
                     cases[i].result, "case %zu", i);
        cr_expect_null(hull);
        cr_expect_not_null(
            strstr(carom_hull_refusal(cases[i].points, cases[i].count), cases[i].why), "case %zu",
            i);
    }
    cm_hulls_close(&hulls);
}
