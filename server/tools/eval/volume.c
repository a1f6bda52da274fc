// `carom eval volume`: two convex pieces with poses and velocities, and what the volume solver
// makes of them: normal, plane, intersection, spring, damper, friction, and the wrench on each.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/volume.h"
#include "server/tools/eval/eval.h"
#include "shared/base/memory.h"

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
    "                stretch [x, y, z] of a against b, twist}\n"
    "  dt            seconds since that was remembered, 0\n"
    "  segments      of round shapes, 16\n"
    "  out: touching; apart: distance, normal (from b to a), points {a, b}. Touching: depth, "
    "normal,\n"
    "  point (c0, of the contact plane), volume, centroid, area, area_centroid, spring and damper\n"
    "  {force, torque about c0, on a}, friction {state, force, torque about the area's centroid,\n"
    "  on a; kinetic, maximum_static: sizes; stretch, twist}, clipped, and a, b {force, torque\n"
    "  about the centre of mass}. No adhesion: where the total would pull it is zero.\n"
    "  example: {\"a\": {\"box\": {\"half_extents\": [1, 1, 1]}, \"position\": [0, 0.99, 0],\n"
    "            \"linear_velocity\": [0, -0.1, 0]}, \"b\": {\"plane\": {\"normal\": [0, 1, 0]}}}\n"
    "  gives \"volume\": 0.040000000000000036 and \"damper\": {\"force\": [0, 20, 0], "
    "\"torque\": [-20, 0, 20]}\n";

// A piece and what it points to.
typedef struct piece {
    carom_volume_piece piece;
    carom_hull *hull;
    carom_dvec3 vertices[CAROM_HULL_VERTICES_MAX];
} piece;

static double length_of(carom_dvec3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

static carom_dvec3 read_vector(cm_eval *eval, const cm_json_value *object, const char *key)
{
    double v[3];
    cm_json_vector(&eval->in, object, key, true, v);
    carom_dvec3 r = {v[0], v[1], v[2]};
    if (!(length_of(r) <= FAR)) {
        cm_json_fail(&eval->in, key, "longer than expected, at most 1e7");
    }
    return r;
}

static void read_orientation(cm_eval *eval, const cm_json_value *object, double v[4])
{
    v[0] = v[1] = v[2] = 0.0;
    v[3] = 1.0;
    if (object == NULL || !cm_json_has(object, "orientation")) {
        return;
    }
    cm_json_numbers(&eval->in, object, "orientation", 4, 4, false, v);
    double norm = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
    if (!cm_json_failed(&eval->in) && !(norm > 1.0 - QUAT_WITHIN && norm < 1.0 + QUAT_WITHIN)) {
        cm_json_fail(&eval->in, "orientation", "squared norm %.9g, expected 1 within 1e-3", norm);
    }
}

// The hull of the points, and its vertices where they were given.
static void read_hull(cm_eval *eval, const cm_json_value *shape, piece *p)
{
    carom_vec3 points[POINTS_MAX];
    carom_dvec3 exact[POINTS_MAX];
    uint32_t count;
    const cm_json_value *array = cm_json_enter_array(&eval->in, shape, "points", &count);
    if (array != NULL && count > POINTS_MAX) {
        cm_json_fail(&eval->in, NULL, "%u points, expected at most %u", (unsigned)count,
                     POINTS_MAX);
    }
    for (uint32_t i = 0; i < count && !cm_json_failed(&eval->in); i++) {
        const cm_json_value *item = cm_json_enter_item(&eval->in, array, i);
        exact[i] = (carom_dvec3){cm_json_item(&eval->in, item, 0), cm_json_item(&eval->in, item, 1),
                                 cm_json_item(&eval->in, item, 2)};
        points[i] = (carom_vec3){(float)exact[i].x, (float)exact[i].y, (float)exact[i].z};
        cm_json_leave(&eval->in);
    }
    if (!cm_json_failed(&eval->in)) {
        if (carom_hull_create(points, count, &cm_by_malloc, &p->hull) != CAROM_OK) {
            cm_json_fail(&eval->in, NULL, "%s, expected points that span a hull",
                         carom_hull_refusal(points, count));
        }
    }
    cm_json_leave(&eval->in);
    cm_json_end_keys(&eval->in, shape, "points", CM_EVAL_HELP);
    uint32_t corners = 0;
    const carom_vec3 *vertices = p->hull != NULL ? carom_hull_vertices(p->hull, &corners) : NULL;
    for (uint32_t v = 0; v < corners; v++) {
        const carom_vec3 *vertex = &vertices[v];
        p->vertices[v] = (carom_dvec3){(double)vertex->x, (double)vertex->y, (double)vertex->z};
        for (uint32_t i = 0; i < count; i++) {
            if (points[i].x == vertex->x && points[i].y == vertex->y && points[i].z == vertex->z) {
                p->vertices[v] = exact[i];
            }
        }
    }
    p->piece.hull = p->hull;
    p->piece.vertices = p->vertices;
}

static void read_numbers(cm_eval *eval, const cm_json_value *shape, carom_volume_piece *form)
{
    const double none = 0.0;
    bool sphere = form->type == CAROM_SHAPE_SPHERE;
    if (form->type == CAROM_SHAPE_BOX) {
        cm_json_numbers(&eval->in, shape, "half_extents", 3, 3, false, form->size);
        for (uint32_t i = 0; i < 3; i++) {
            if (!cm_json_failed(&eval->in) && !(form->size[i] > 0.0 && form->size[i] <= FAR)) {
                cm_json_fail(&eval->in, "half_extents", "expected lengths above 0, at most 1e7");
            }
        }
        cm_json_end_keys(&eval->in, shape, "half_extents", CM_EVAL_HELP);
    } else if (form->type == CAROM_SHAPE_PLANE) {
        cm_json_numbers(&eval->in, shape, "normal", 3, 3, false, form->size);
        const double *n = form->size, squared = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        if (!cm_json_failed(&eval->in) && fabs(squared - 1.0) > QUAT_WITHIN) {
            cm_json_fail(&eval->in, "normal", "expected unit length within 1e-3");
        }
        form->size[3] = cm_json_number(&eval->in, shape, "offset", -FAR, FAR, &none);
        cm_json_end_keys(&eval->in, shape, "normal|offset", CM_EVAL_HELP);
    } else {
        form->size[0] = cm_json_number(&eval->in, shape, "radius", 1.0e-9, FAR, NULL);
        form->size[1] =
            sphere ? 0.0 : cm_json_number(&eval->in, shape, "half_height", 1.0e-9, FAR, NULL);
        cm_json_end_keys(&eval->in, shape, sphere ? "radius" : "radius|half_height", CM_EVAL_HELP);
    }
}

static void read_piece(cm_eval *eval, const cm_json_value *root, const char *key, piece *p)
{
    static const struct {
        const char *key;
        carom_shape_type type;
    } FORMS[] = {{"box", CAROM_SHAPE_BOX},           {"hull", CAROM_SHAPE_HULL},
                 {"sphere", CAROM_SHAPE_SPHERE},     {"capsule", CAROM_SHAPE_CAPSULE},
                 {"cylinder", CAROM_SHAPE_CYLINDER}, {"plane", CAROM_SHAPE_PLANE}};
    const cm_json_value *json = cm_json_enter_object(&eval->in, root, key);
    carom_volume_piece *form = &p->piece;
    form->type = CAROM_SHAPE_BOX;
    const char *found = NULL;
    char keys[128];
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0] && json != NULL; i++) {
        if (cm_json_has(json, FORMS[i].key) && found == NULL) {
            found = FORMS[i].key;
            form->type = FORMS[i].type;
        }
    }
    if (json != NULL && found == NULL) {
        cm_json_fail(&eval->in, NULL,
                     "no shape, expected box, hull, sphere, capsule, cylinder or plane");
    }
    form->position = read_vector(eval, json, "position");
    read_orientation(eval, json, form->orientation);
    form->center = json != NULL && cm_json_has(json, "center_of_mass")
                       ? read_vector(eval, json, "center_of_mass")
                       : form->position;
    form->velocity = read_vector(eval, json, "linear_velocity");
    form->spin = read_vector(eval, json, "angular_velocity");
    if (!cm_json_failed(&eval->in)) {
        const cm_json_value *shape = cm_json_enter_object(&eval->in, json, found);
        if (form->type == CAROM_SHAPE_HULL) {
            read_hull(eval, shape, p);
        } else {
            read_numbers(eval, shape, form);
        }
        cm_json_leave(&eval->in);
        snprintf(keys, sizeof keys,
                 "%s|position|orientation|center_of_mass|linear_velocity|angular_velocity", found);
        cm_json_end_keys(&eval->in, json, keys, CM_EVAL_HELP);
    }
    cm_json_leave(&eval->in);
}

static void read_law(cm_eval *eval, const cm_json_value *root, carom_volume_law *law)
{
    const double k = 1000.0, b = 50.0, mu = 0.5;
    law->stiffness = cm_json_number(&eval->in, root, "stiffness", 0.0, LARGE, &k);
    law->damping = cm_json_number(&eval->in, root, "damping", 0.0, LARGE, &b);
    law->tangent_stiffness =
        cm_json_number(&eval->in, root, "tangent_stiffness", 0.0, LARGE, &law->stiffness);
    law->tangent_damping =
        cm_json_number(&eval->in, root, "tangent_damping", 0.0, LARGE, &law->damping);
    law->friction_kinetic = cm_json_number(&eval->in, root, "friction_kinetic", 0.0, 1.0e3, &mu);
    const double still = 1.2 * law->friction_kinetic;
    law->friction_static =
        cm_json_number(&eval->in, root, "friction_static", law->friction_kinetic, 1.2e3, &still);
}

static void read_friction(cm_eval *eval, const cm_json_value *root, carom_volume_memory *memory)
{
    const double none = 0.0;
    *memory = (carom_volume_memory){0};
    if (!cm_json_has(root, "friction")) {
        return;
    }
    const cm_json_value *json = cm_json_enter_object(&eval->in, root, "friction");
    memory->state =
        (carom_volume_state)cm_json_choice(&eval->in, json, "state", "none|static|kinetic");
    memory->stretch = read_vector(eval, json, "stretch");
    memory->twist = cm_json_number(&eval->in, json, "twist", -FAR, FAR, &none);
    cm_json_end_keys(&eval->in, json, "state|stretch|twist", CM_EVAL_HELP);
    cm_json_leave(&eval->in);
}

static void out_wrench(cm_eval *eval, const char *key, const carom_wrench *wrench)
{
    cm_out_object(eval, key);
    cm_out_vector(eval, "force", wrench->force);
    cm_out_vector(eval, "torque", wrench->torque);
    cm_out_end(eval);
}

static void out_apart(cm_eval *eval, const carom_volume_touch *touch)
{
    cm_out_bool(eval, "touching", false);
    cm_out_number(eval, "distance", touch->distance);
    cm_out_vector(eval, "normal", touch->normal);
    cm_out_object(eval, "points");
    cm_out_vector(eval, "a", touch->nearest[0]);
    cm_out_vector(eval, "b", touch->nearest[1]);
    cm_out_end(eval);
}

static void out_touching(cm_eval *eval, const carom_volume_touch *touch,
                         const carom_volume_memory *memory)
{
    cm_out_bool(eval, "touching", true);
    cm_out_number(eval, "depth", touch->depth);
    cm_out_vector(eval, "normal", touch->normal);
    cm_out_vector(eval, "point", touch->point);
    cm_out_number(eval, "volume", touch->volume);
    cm_out_vector(eval, "centroid", touch->centroid);
    cm_out_number(eval, "area", touch->area);
    cm_out_vector(eval, "area_centroid", touch->area_centroid);
    out_wrench(eval, "spring", &touch->spring);
    out_wrench(eval, "damper", &touch->damper);
    cm_out_object(eval, "friction");
    cm_out_text(eval, "state", memory->state == CAROM_VOLUME_KINETIC ? "kinetic" : "static");
    cm_out_vector(eval, "force", touch->friction.force);
    cm_out_vector(eval, "torque", touch->friction.torque);
    cm_out_number(eval, "kinetic", touch->kinetic);
    cm_out_number(eval, "maximum_static", touch->most_static);
    cm_out_vector(eval, "stretch", memory->stretch);
    cm_out_number(eval, "twist", memory->twist);
    cm_out_end(eval);
    cm_out_bool(eval, "clipped", touch->clipped);
    out_wrench(eval, "a", &touch->total[0]);
    out_wrench(eval, "b", &touch->total[1]);
}

static void evaluate(cm_eval *eval, const cm_json_value *root, piece *a, piece *b, void *work)
{
    const double sixteen = 16.0, none = 0.0;
    carom_volume_law law;
    carom_volume_memory memory;
    carom_volume_touch touch;
    uint32_t segments = (uint32_t)cm_json_number(&eval->in, root, "segments", CAROM_SEGMENTS_MIN,
                                                 CAROM_SEGMENTS_MAX, &sixteen);
    read_piece(eval, root, "a", a);
    read_piece(eval, root, "b", b);
    read_law(eval, root, &law);
    read_friction(eval, root, &memory);
    double dt = cm_json_number(&eval->in, root, "dt", 0.0, 1.0e3, &none);
    carom_dvec3 normal = read_vector(eval, root, "normal");
    bool known = length_of(normal) > 0.0;
    if (!known && cm_json_has(root, "normal")) {
        cm_json_fail(&eval->in, "normal", "of length 0, expected a direction");
    }
    cm_json_end_keys(&eval->in, root,
                     "a|b|stiffness|damping|tangent_stiffness|tangent_damping|friction_kinetic|"
                     "friction_static|normal|friction|dt|segments",
                     CM_EVAL_HELP);
    if (cm_json_failed(&eval->in)) {
        return;
    }
    if (a->piece.type == CAROM_SHAPE_PLANE && b->piece.type == CAROM_SHAPE_PLANE) {
        cm_json_fail(&eval->in, "b", "two planes, expected at most one");
        return;
    }
    const carom_volume_piece pieces[2] = {a->piece, b->piece};
    carom_result result = carom_volume_meet(pieces, &law, known ? &normal : NULL, dt, segments,
                                            work, &memory, &touch);
    if (result != CAROM_OK) {
        cm_json_fail(&eval->in, NULL, "%s", carom_result_text(result));
    } else if (touch.touching) {
        out_touching(eval, &touch, &memory);
    } else {
        out_apart(eval, &touch);
    }
}

static void run(cm_eval *eval, const cm_json_value *root)
{
    piece a = {.hull = NULL}, b = {.hull = NULL};
    void *work = malloc(carom_volume_work_size());
    if (work == NULL) {
        cm_json_fail(&eval->in, NULL, "no memory");
    } else {
        evaluate(eval, root, &a, &b, work);
    }
    carom_hull_destroy(a.hull);
    carom_hull_destroy(b.hull);
    free(work);
}

const cm_eval_case cm_eval_volume_case = {
    "volume", "contact by intersection volume (Hasegawa et al. 2003)", TEXT, run};
