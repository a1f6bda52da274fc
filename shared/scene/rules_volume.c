// Rules of a scene that its solver makes: `volume`. Its pieces are convex, it has no joints, and
// static friction is at least the kinetic. Restitution has no meaning there: a warning, not an
// error.
#include "shared/scene/message.h"

#include "shared/base/vec.h"

#define INSIDE 1e-3f // of a hull's size: within it a point lies on an edge

static bool is_volume(const Cm__Scene__Scene *scene)
{
    return scene->solver != NULL && scene->solver->type == CM__SCENE__SOLVER__TYPE__VOLUME;
}

static bool check_pieces(cm_check *check, const Cm__Scene__Body *body, bool unused)
{
    (void)unused;
    cm_check_key(check, "shapes");
    for (size_t i = 0; i < body->n_shapes; ++i) {
        const Cm__Scene__Shape *shape = body->shapes[i];
        bool mesh = shape->geometry_case == CM__SCENE__SHAPE__GEOMETRY_MESH;
        if (mesh || shape->geometry_case == CM__SCENE__SHAPE__GEOMETRY_HEIGHTFIELD) {
            cm_check_index(check, (uint32_t)i);
            return cm_check_fail_at(check, mesh ? "mesh" : "heightfield", CAROM_ERROR_ARGUMENT,
                                    "a piece that is not convex, expected convex shapes for the "
                                    "volume solver: cut it into several");
        }
    }
    cm_check_pop(check);
    return true;
}

bool cm_check_volume(cm_check *check, const Cm__Scene__Scene *scene)
{
    if (!is_volume(scene)) {
        return true;
    }
    if (scene->n_joints > 0) {
        return cm_check_fail_at(check, "joints", CAROM_ERROR_ARGUMENT,
                                "%zu joints, expected none: the volume solver has contacts alone",
                                scene->n_joints);
    }
    const Cm__Scene__Solver *solver = scene->solver;
    cm_check_key(check, "solver");
    if (solver->has_friction_kinetic && solver->has_friction_static &&
        solver->friction_static < solver->friction_kinetic) {
        return cm_check_fail_at(check, "friction_static", CAROM_ERROR_ARGUMENT,
                                "%.9g, expected at least friction_kinetic, %.9g",
                                solver->friction_static, solver->friction_kinetic);
    }
    cm_check_pop(check);
    return cm_check_every_body(check, scene, check_pieces, false);
}

// Squared distance of a point from an edge.
static float from_edge(carom_vec3 a, carom_vec3 b, carom_vec3 p)
{
    carom_vec3 d = cm_sub(b, a), r = cm_sub(p, a);
    float t = cm_clamp(cm_dot(r, d) / cm_length_squared(d), 0.0f, 1.0f);
    return cm_length_squared(cm_mul_add(r, -t, d));
}

// A point is no farther than `within` from some edge. Each edge is in the loops of two faces, and
// looked at where it ascends.
static bool is_near_edge(const carom_hull *hull, carom_vec3 p, float within)
{
    uint32_t corners, size;
    const carom_vec3 *vertices = carom_hull_vertices(hull, &corners);
    const uint8_t *loop = carom_hull_face(hull, 0, &size);
    for (uint32_t face = 0; loop != NULL; loop = carom_hull_face(hull, ++face, &size)) {
        for (uint32_t i = 0; i < size; ++i) {
            uint8_t a = loop[i], b = loop[(i + 1) % size];
            if (a < b && from_edge(vertices[a], vertices[b], p) <= within * within) {
                return true;
            }
        }
    }
    return false;
}

static float outer_radius(const carom_hull *hull)
{
    uint32_t count;
    const carom_vec3 *vertices = carom_hull_vertices(hull, &count);
    float radius = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        radius = cm_max(radius, cm_length(vertices[i]));
    }
    return radius;
}

// A point far from every edge is inside of the hull or in the middle of a face, as the inner corner
// of an L is: whoever wrote it meant another body than its hull.
bool cm_check_piece(cm_check *check, const Cm__Scene__Scene *scene, const carom_hull *hull,
                    const carom_vec3 *points, size_t count)
{
    float within = INSIDE * outer_radius(hull);
    for (size_t i = 0; i < count && is_volume(scene); ++i) {
        if (!is_near_edge(hull, points[i], within)) {
            cm_check_key(check, "hull");
            cm_check_key(check, "points");
            cm_check_index(check, (uint32_t)i);
            return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                                 "no corner of the points' hull: a piece that is not convex, "
                                 "expected convex pieces, several shapes for one that is not");
        }
    }
    return true;
}

bool cm_scene_ignores_restitution(const cm_scene *scene)
{
    const Cm__Scene__Scene *message = scene->message;
    if (message->solver == NULL || (message->solver->type != CM__SCENE__SOLVER__TYPE__VOLUME &&
                                    message->solver->type != CM__SCENE__SOLVER__TYPE__LCP)) {
        return false;
    }
    for (size_t i = 0; i < message->n_materials; ++i) {
        if (message->materials[i]->restitution > 0.0) {
            return true;
        }
    }
    for (size_t i = 0; i < message->n_bodies + message->n_arrays; ++i) {
        const Cm__Scene__Body *body =
            i < message->n_bodies ? message->bodies[i] : message->arrays[i - message->n_bodies]->of;
        for (size_t k = 0; k < body->n_shapes; ++k) {
            if (body->shapes[k]->restitution > 0.0) {
                return true;
            }
        }
    }
    return false;
}
