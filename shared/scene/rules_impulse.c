// Rules of a scene that its solver makes: `impulse`. Coefficients are fractions there (0..1) and
// combine by product; it has no joints; circles are spheres in a planar scene.
#include "shared/scene/message.h"

static bool is_impulse(const Cm__Scene__Scene *scene)
{
    return scene->solver != NULL && scene->solver->type == CM__SCENE__SOLVER__TYPE__IMPULSE;
}

static bool check_fraction(cm_check *check, double friction)
{
    return friction <= 1.0 ||
           cm_check_fail_at(check, "friction", CAROM_ERROR_ARGUMENT,
                            "%.9g, expected 0 to 1: the impulse solver's friction is a fraction of "
                            "sticking",
                            friction);
}

static bool check_shapes(cm_check *check, const Cm__Scene__Body *body, bool circles)
{
    cm_check_key(check, "shapes");
    for (size_t i = 0; i < body->n_shapes; ++i) {
        const Cm__Scene__Shape *shape = body->shapes[i];
        cm_check_index(check, (uint32_t)i);
        if (!check_fraction(check, shape->friction)) {
            return false;
        }
        if (circles && shape->geometry_case != CM__SCENE__SHAPE__GEOMETRY_SPHERE) {
            return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                                 "a shape that is no sphere, expected spheres alone: the circle "
                                 "model has no others");
        }
        cm_check_pop(check);
    }
    cm_check_pop(check);
    return true;
}

static bool check_materials(cm_check *check, const Cm__Scene__Scene *scene)
{
    cm_check_key(check, "materials");
    for (size_t i = 0; i < scene->n_materials; ++i) {
        cm_check_key(check, scene->materials[i]->name);
        if (!check_fraction(check, scene->materials[i]->friction)) {
            return false;
        }
        cm_check_pop(check);
    }
    cm_check_pop(check);
    cm_check_key(check, "pairs");
    for (size_t i = 0; i < scene->n_pairs; ++i) {
        cm_check_index(check, (uint32_t)i);
        if (!check_fraction(check, scene->pairs[i]->friction)) {
            return false;
        }
        cm_check_pop(check);
    }
    cm_check_pop(check);
    return true;
}

static bool check_scene(cm_check *check, const Cm__Scene__Scene *scene, bool circles)
{
    if (scene->n_joints > 0) {
        return cm_check_fail_at(check, "joints", CAROM_ERROR_ARGUMENT,
                                "%zu joints, expected none: the impulse solver has no joints",
                                scene->n_joints);
    }
    if (circles && !scene->planar) {
        return cm_check_fail_at(check, "solver", CAROM_ERROR_ARGUMENT,
                                "the circle model in a scene that is not planar, expected "
                                "\"planar\": true");
    }
    if (scene->combine == NULL) {
        return true;
    }
    bool friction = scene->combine->friction != CM__SCENE__COMBINE_RULE__PRODUCT;
    if (friction || scene->combine->restitution != CM__SCENE__COMBINE_RULE__PRODUCT) {
        cm_check_key(check, "combine");
        return cm_check_fail_at(check, friction ? "friction" : "restitution", CAROM_ERROR_ARGUMENT,
                                "another rule than product, expected \"product\": the impulse "
                                "solver has no other");
    }
    return true;
}

bool cm_check_impulse(cm_check *check, const Cm__Scene__Scene *scene)
{
    if (!is_impulse(scene)) {
        return true;
    }
    bool circles = scene->solver->model == CM__SCENE__SOLVER__MODEL__CIRCLE;
    if (!check_scene(check, scene, circles) || !check_materials(check, scene)) {
        return false;
    }
    return cm_check_every_body(check, scene, check_shapes, circles);
}
