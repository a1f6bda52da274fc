// `carom eval volume`: two convex pieces with poses and velocities, and what the volume solver
// makes of them: normal, plane, intersection, spring, damper, friction, and the wrench on each.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/eval/eval.h"
#include "shared/sim/geometry/hull.h"
#include "shared/sim/solve/volume/friction.h"
#include "shared/sim/solve/volume/gjk.h"

#define LARGE       1.0e15
#define FAR         1.0e7
#define POINTS_MAX  256u
#define QUAT_WITHIN 1.0e-3

static const char TEXT[] =
    "  a, b          pieces: one shape as in a scene, box {half_extents}, hull {points}, sphere\n"
    "                {radius}, capsule or cylinder {radius, half_height}, or plane {normal, "
    "offset};\n"
    "                position [0, 0, 0] and orientation [x, y, z, w] of the shape,\n"
    "                center_of_mass (world; position), linear_velocity (of the centre of mass),\n"
    "                angular_velocity; m, m/s, rad/s\n"
    "  stiffness, damping          1000 N/m^3, 50 N s/m^3\n"
    "  tangent_stiffness, tangent_damping   as along the normal\n"
    "  friction_kinetic, friction_static    0.5, 1.2 x kinetic\n"
    "  normal        the last one, from b to a; without it the direction of the nearest points, "
    "of\n"
    "                the relative velocity, or of the centres\n"
    "  friction      what is remembered: {state: \"none\" (default), \"static\" or \"kinetic\",\n"
    "                stretch [x, y, z] of a against b, twist}, and dt: seconds since then, 0\n"
    "  segments      of round shapes, 16\n"
    "  out: touching; apart: distance, normal (from b to a), points {a, b}. Touching: depth, "
    "normal,\n"
    "  point (c0, of the contact plane), volume, centroid, area, area_centroid, spring and damper\n"
    "  {force, torque about c0, on a}, friction {state, force, torque about the area's centroid,\n"
    "  on a; kinetic, maximum_static: sizes; stretch, twist}, clipped, and a, b {force, torque\n"
    "  about the centre of mass}. No adhesion: where the total would pull it is zero.\n"
    "  example: {\"a\": {\"box\": {\"half_extents\": [1, 1, 1]}, \"position\": [0, 0.99, 0],\n"
    "            \"linear_velocity\": [0, -0.1, 0]}, \"b\": {\"plane\": {\"normal\": [0, 1, 0]}}}\n"
    "  gives a spring of 40 N and a damper of 20 N over 4 m^2\n";

typedef struct piece {
    cm_volume_piece *piece;
    cm_d3 center, velocity, spin;
    carom_hull *hull;
    cm_d3 vertices[CM_HULL_VERTICES];
} piece;

static void *allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static cm_d3 read_vector(cm_eval *eval, const json_t *object, const char *key)
{
    double v[3];
    cm_eval_vector(eval, object, key, true, v);
    cm_d3 r = cm_d3_of(v[0], v[1], v[2]);
    if (!(cm_d3_length(r) <= FAR)) {
        cm_eval_fail(eval, key, "longer than expected, at most 1e7");
    }
    return r;
}

static cm_dmat read_rotation(cm_eval *eval, const json_t *object)
{
    double v[4] = {0.0, 0.0, 0.0, 1.0};
    if (object == NULL || !cm_eval_has(object, "orientation")) {
        return cm_dmat_from_quat((cm_dquat){0.0, 0.0, 0.0, 1.0});
    }
    cm_eval_numbers(eval, object, "orientation", 4, 4, false, v);
    cm_dquat q = {v[0], v[1], v[2], v[3]};
    double norm = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
    if (!cm_eval_failed(eval) && !(norm > 1.0 - QUAT_WITHIN && norm < 1.0 + QUAT_WITHIN)) {
        cm_eval_fail(eval, "orientation", "squared norm %.9g, expected 1 within 1e-3", norm);
    }
    return cm_dmat_from_quat(cm_dquat_unit(q));
}

// The hull of the points, and its vertices where they were given.
static void read_hull(cm_eval *eval, const json_t *shape, piece *p, cm_volume_form *form)
{
    static const char *const KEYS[] = {"points"};
    carom_vec3 points[POINTS_MAX];
    cm_d3 exact[POINTS_MAX];
    uint32_t count;
    const json_t *array = cm_eval_enter_array(eval, shape, "points", &count);
    if (array != NULL && count > POINTS_MAX) {
        cm_eval_fail(eval, NULL, "%u points, expected at most %u", (unsigned)count, POINTS_MAX);
    }
    for (uint32_t i = 0; i < count && !cm_eval_failed(eval); ++i) {
        const json_t *item = cm_eval_enter_item(eval, array, i);
        exact[i] = cm_d3_of(cm_eval_item(eval, item, 0), cm_eval_item(eval, item, 1),
                            cm_eval_item(eval, item, 2));
        points[i] = cm_d3_round(exact[i]);
        cm_eval_leave(eval);
    }
    if (!cm_eval_failed(eval)) {
        const carom_allocator heap = {NULL, allocate, release};
        if (carom_hull_create(points, count, &heap, &p->hull) != CAROM_OK) {
            cm_eval_fail(eval, NULL, "%s, expected points that span a hull",
                         carom_hull_refusal(points, count));
        }
    }
    cm_eval_leave(eval);
    cm_eval_end_keys(eval, shape, KEYS, 1);
    for (uint32_t v = 0; p->hull != NULL && v < p->hull->vertex_count; ++v) {
        const carom_vec3 *vertex = &p->hull->vertices[v];
        p->vertices[v] = cm_d3_from(*vertex);
        for (uint32_t i = 0; i < count; ++i) {
            if (points[i].x == vertex->x && points[i].y == vertex->y && points[i].z == vertex->z) {
                p->vertices[v] = exact[i];
            }
        }
    }
    form->hull = p->hull;
    form->vertices = p->vertices;
}

static void read_numbers(cm_eval *eval, const json_t *shape, cm_volume_form *form)
{
    static const char *const BOX[] = {"half_extents"};
    static const char *const PLANE[] = {"normal", "offset"};
    static const char *const ROUND[] = {"radius", "half_height"};
    const double none = 0.0;
    bool sphere = form->type == CAROM_SHAPE_SPHERE;
    if (form->type == CAROM_SHAPE_BOX) {
        cm_eval_numbers(eval, shape, "half_extents", 3, 3, false, form->size);
        for (uint32_t i = 0; i < 3; ++i) {
            if (!cm_eval_failed(eval) && !(form->size[i] > 0.0 && form->size[i] <= FAR)) {
                cm_eval_fail(eval, "half_extents", "expected lengths above 0, at most 1e7");
            }
        }
        cm_eval_end_keys(eval, shape, BOX, 1);
    } else if (form->type == CAROM_SHAPE_PLANE) {
        cm_eval_numbers(eval, shape, "normal", 3, 3, false, form->size);
        cm_d3 n = cm_d3_of(form->size[0], form->size[1], form->size[2]);
        if (!cm_eval_failed(eval) && cm_d_abs(cm_d3_dot(n, n) - 1.0) > QUAT_WITHIN) {
            cm_eval_fail(eval, "normal", "expected unit length within 1e-3");
        }
        form->size[3] = cm_eval_number(eval, shape, "offset", -FAR, FAR, &none);
        cm_eval_end_keys(eval, shape, PLANE, 2);
    } else {
        form->size[0] = cm_eval_number(eval, shape, "radius", 1.0e-9, FAR, NULL);
        form->size[1] =
            sphere ? 0.0 : cm_eval_number(eval, shape, "half_height", 1.0e-9, FAR, NULL);
        cm_eval_end_keys(eval, shape, ROUND, sphere ? 1 : 2);
    }
}

static void read_piece(cm_eval *eval, const json_t *root, const char *key, uint32_t segments,
                       piece *p)
{
    static const struct {
        const char *key;
        carom_shape_type type;
    } FORMS[] = {{"box", CAROM_SHAPE_BOX},           {"hull", CAROM_SHAPE_HULL},
                 {"sphere", CAROM_SHAPE_SPHERE},     {"capsule", CAROM_SHAPE_CAPSULE},
                 {"cylinder", CAROM_SHAPE_CYLINDER}, {"plane", CAROM_SHAPE_PLANE}};
    const json_t *json = cm_eval_enter_object(eval, root, key);
    cm_volume_form form = {.type = CAROM_SHAPE_BOX};
    const char *keys[6] = {
        NULL, "position", "orientation", "center_of_mass", "linear_velocity", "angular_velocity"};
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0] && json != NULL; ++i) {
        if (cm_eval_has(json, FORMS[i].key) && keys[0] == NULL) {
            keys[0] = FORMS[i].key;
            form.type = FORMS[i].type;
        }
    }
    if (json != NULL && keys[0] == NULL) {
        cm_eval_fail(eval, NULL,
                     "no shape, expected box, hull, sphere, capsule, cylinder or plane");
        keys[0] = "box";
    }
    cm_volume_place place;
    place.position = read_vector(eval, json, "position");
    place.rotation = read_rotation(eval, json);
    p->center = json != NULL && cm_eval_has(json, "center_of_mass")
                    ? read_vector(eval, json, "center_of_mass")
                    : place.position;
    p->velocity = read_vector(eval, json, "linear_velocity");
    p->spin = read_vector(eval, json, "angular_velocity");
    if (!cm_eval_failed(eval)) {
        const json_t *shape = cm_eval_enter_object(eval, json, keys[0]);
        if (form.type == CAROM_SHAPE_HULL) {
            read_hull(eval, shape, p, &form);
        } else {
            read_numbers(eval, shape, &form);
        }
        cm_eval_leave(eval);
        cm_eval_end_keys(eval, json, keys, 6);
    }
    cm_eval_leave(eval);
    if (!cm_eval_failed(eval)) {
        cm_volume_piece_form(&form, &place, segments, p->piece);
    }
}

static void read_law(cm_eval *eval, const json_t *root, cm_volume_law *law)
{
    const double k = 1000.0, b = 50.0, mu = 0.5;
    law->stiffness = cm_eval_number(eval, root, "stiffness", 0.0, LARGE, &k);
    law->damping = cm_eval_number(eval, root, "damping", 0.0, LARGE, &b);
    law->tangent_stiffness =
        cm_eval_number(eval, root, "tangent_stiffness", 0.0, LARGE, &law->stiffness);
    law->tangent_damping = cm_eval_number(eval, root, "tangent_damping", 0.0, LARGE, &law->damping);
    law->kinetic = cm_eval_number(eval, root, "friction_kinetic", 0.0, 1.0e3, &mu);
    const double still = 1.2 * law->kinetic;
    law->still = cm_eval_number(eval, root, "friction_static", law->kinetic, 1.2e3, &still);
}

static void read_friction(cm_eval *eval, const json_t *root, cm_volume_bristle *bristle)
{
    static const char *const KEYS[] = {"state", "stretch", "twist"};
    const double none = 0.0;
    *bristle = (cm_volume_bristle){0};
    if (!cm_eval_has(root, "friction")) {
        return;
    }
    const json_t *json = cm_eval_enter_object(eval, root, "friction");
    bristle->mode = cm_eval_choice(eval, json, "state", "none|static|kinetic");
    bristle->stretch = read_vector(eval, json, "stretch");
    bristle->twist = cm_eval_number(eval, json, "twist", -FAR, FAR, &none);
    cm_eval_end_keys(eval, json, KEYS, 3);
    cm_eval_leave(eval);
}

static void out_vector(cm_eval *eval, const char *key, cm_d3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    cm_out_numbers(eval, key, values, 3);
}

static void out_push(cm_eval *eval, const char *key, const cm_volume_region *r, cm_volume_push push)
{
    cm_out_object(eval, key);
    out_vector(eval, "force", cm_d3_scale(push.force, r->normal));
    out_vector(eval, "torque", cm_d3_mad(cm_d3_scale(push.mx, r->t1), push.my, r->t2));
    cm_out_end(eval);
}

static cm_volume_slip slip_at(const cm_volume_region *r, const piece *a, const piece *b)
{
    cm_d3 va = cm_d3_add(a->velocity, cm_d3_cross(a->spin, cm_d3_sub(r->point, a->center)));
    cm_d3 vb = cm_d3_add(b->velocity, cm_d3_cross(b->spin, cm_d3_sub(r->point, b->center)));
    cm_d3 v = cm_d3_sub(vb, va), w = cm_d3_sub(b->spin, a->spin);
    cm_volume_slip slip = {cm_d3_dot(r->t1, v), cm_d3_dot(r->t2, v), cm_d3_dot(r->normal, v),
                           cm_d3_dot(r->t1, w), cm_d3_dot(r->t2, w), cm_d3_dot(r->normal, w)};
    return slip;
}

// Size of the Coulomb force of coefficient `mu` along the motion, or against the stretch.
static double limit_of(const cm_volume_rubbing *rubbing, const cm_volume_law *law, double mu,
                       double gx, double gy, double turn)
{
    cm_volume_shear f = cm_volume_rub(rubbing->work, law->stiffness, law->damping, &rubbing->slip,
                                      gx + turn * rubbing->y, gy - turn * rubbing->x, turn);
    f.m -= rubbing->x * f.y - rubbing->y * f.x;
    return mu * cm_volume_shear_size(rubbing, &f);
}

static void out_apart(cm_eval *eval, const piece *a, const piece *b)
{
    cm_volume_gap gap;
    cm_volume_gjk(a->piece, b->piece, cm_d3_of(0, 0, 0), cm_d3_of(0, 0, 0), &gap);
    cm_out_bool(eval, "touching", false);
    cm_out_number(eval, "distance", gap.distance);
    out_vector(eval, "normal", gap.direction);
    cm_out_object(eval, "points");
    out_vector(eval, "a", gap.on_a);
    out_vector(eval, "b", gap.on_b);
    cm_out_end(eval);
}

static void out_body(cm_eval *eval, const char *key, cm_d3 force, cm_d3 torque)
{
    cm_out_object(eval, key);
    out_vector(eval, "force", force);
    out_vector(eval, "torque", torque);
    cm_out_end(eval);
}

static void out_touching(cm_eval *eval, const piece *a, const piece *b, const cm_volume_law *law,
                         double dt, const cm_volume_work *work, const cm_volume_region *r,
                         cm_volume_bristle *bristle)
{
    cm_volume_slip slip = slip_at(r, a, b);
    cm_volume_push spring = cm_volume_spring(r, law->stiffness);
    cm_volume_push damper = cm_volume_damper(r, law->damping, &slip);
    bool pulls = spring.force + damper.force < 0.0;
    cm_volume_rubbing rubbing = cm_volume_rubbing_of(r, work, &slip);
    double u = slip.x - slip.wn * rubbing.y, v = slip.y + slip.wn * rubbing.x;
    double kinetic = limit_of(&rubbing, law, law->kinetic, u, v, slip.wn);
    cm_volume_shear shear = cm_volume_rub_step(&rubbing, law, r, dt, bristle);
    cm_d3 middle = cm_d3_mad(cm_d3_mad(r->point, rubbing.x, r->t1), rubbing.y, r->t2);
    cm_out_bool(eval, "touching", true);
    cm_out_number(eval, "depth", r->depth);
    out_vector(eval, "normal", r->normal);
    out_vector(eval, "point", r->point);
    cm_out_number(eval, "volume", r->volume);
    out_vector(eval, "centroid", cm_volume_centroid(r));
    cm_out_number(eval, "area", r->area);
    out_vector(eval, "area_centroid", middle);
    out_push(eval, "spring", r, spring);
    out_push(eval, "damper", r, damper);
    cm_d3 f = cm_d3_mad(cm_d3_scale(shear.x, r->t1), shear.y, r->t2);
    cm_d3 m = cm_d3_scale(shear.m, r->normal);
    cm_out_object(eval, "friction");
    cm_out_text(eval, "state", bristle->mode == CM_VOLUME_KINETIC ? "kinetic" : "static");
    out_vector(eval, "force", f);
    out_vector(eval, "torque", m);
    cm_out_number(eval, "kinetic", kinetic);
    cm_out_number(eval, "maximum_static",
                  limit_of(&rubbing, law, law->still, shear.x, shear.y,
                           rubbing.turn > 0.0 ? shear.m * rubbing.area / rubbing.turn : 0.0));
    out_vector(eval, "stretch", bristle->stretch);
    cm_out_number(eval, "twist", bristle->twist);
    cm_out_end(eval);
    cm_out_bool(eval, "clipped", r->clipped);
    double n = pulls ? 0.0 : 1.0;
    cm_d3 force = cm_d3_scale(n, cm_d3_mad(f, spring.force + damper.force, r->normal));
    cm_d3 torque = cm_d3_add(m, cm_d3_cross(cm_d3_sub(middle, r->point), f));
    torque = cm_d3_mad(torque, spring.mx + damper.mx, r->t1);
    torque = cm_d3_scale(n, cm_d3_mad(torque, spring.my + damper.my, r->t2));
    out_body(eval, "a", force,
             cm_d3_add(torque, cm_d3_cross(cm_d3_sub(r->point, a->center), force)));
    cm_d3 back = cm_d3_scale(-1.0, force);
    out_body(eval, "b", back, cm_d3_sub(cm_d3_cross(cm_d3_sub(r->point, b->center), back), torque));
}

static void evaluate(cm_eval *eval, const json_t *root, piece *a, piece *b, cm_volume_work *work)
{
    static const char *const KEYS[] = {"a",
                                       "b",
                                       "stiffness",
                                       "damping",
                                       "tangent_stiffness",
                                       "tangent_damping",
                                       "friction_kinetic",
                                       "friction_static",
                                       "normal",
                                       "friction",
                                       "dt",
                                       "segments"};
    const double sixteen = 16.0, none = 0.0;
    cm_volume_law law;
    cm_volume_bristle bristle;
    uint32_t segments = (uint32_t)cm_eval_number(eval, root, "segments", 3.0, 256.0, &sixteen);
    read_piece(eval, root, "a", segments, a);
    read_piece(eval, root, "b", segments, b);
    read_law(eval, root, &law);
    read_friction(eval, root, &bristle);
    double dt = cm_eval_number(eval, root, "dt", 0.0, 1.0e3, &none);
    cm_d3 normal = cm_d3_unit(read_vector(eval, root, "normal"));
    bool known = cm_d3_dot(normal, normal) > 0.5;
    if (!known && cm_eval_has(root, "normal")) {
        cm_eval_fail(eval, "normal", "of length 0, expected a direction");
    }
    cm_eval_end_keys(eval, root, KEYS, sizeof KEYS / sizeof KEYS[0]);
    if (cm_eval_failed(eval)) {
        return;
    }
    if (a->piece->half_space && b->piece->half_space) {
        cm_eval_fail(eval, "b", "two planes, expected at most one");
        return;
    }
    if (!known) {
        normal = cm_volume_first_normal(a->piece, b->piece, cm_d3_sub(b->velocity, a->velocity));
    }
    cm_volume_region region = {.clipped = false};
    if (cm_volume_meet(a->piece, b->piece, normal, work, &region)) {
        out_touching(eval, a, b, &law, dt, work, &region, &bristle);
    } else {
        out_apart(eval, a, b);
    }
}

static void run(cm_eval *eval, const json_t *root)
{
    piece a = {.hull = NULL}, b = {.hull = NULL};
    cm_volume_work *work = calloc(1, sizeof *work);
    a.piece = calloc(1, sizeof *a.piece);
    b.piece = calloc(1, sizeof *b.piece);
    if (work == NULL || a.piece == NULL || b.piece == NULL) {
        cm_eval_fail(eval, NULL, "no memory");
    } else {
        evaluate(eval, root, &a, &b, work);
    }
    carom_hull_destroy(a.hull);
    carom_hull_destroy(b.hull);
    free(a.piece);
    free(b.piece);
    free(work);
}

const cm_eval_case cm_eval_volume_case = {"volume", "contact by intersection volume (S2)", TEXT,
                                          run};
