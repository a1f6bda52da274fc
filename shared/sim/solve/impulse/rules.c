// Demands of the impulse solver on scenes. Its coefficients are fractions, which combine by
// product; it has no joints, no belts and no rolling friction; circles are spheres in a planar
// world.
#include "shared/sim/solve/impulse/impulse.h"

#include "shared/sim/solve/rules.h"

#define FRACTION "0 to 1: the impulse solver's friction is a fraction of sticking"
#define PRODUCT  "product: the impulse solver has no other rule"

static bool is_circle(const carom_world_def *def)
{
    return def->solver.impulse.model == CAROM_IMPULSE_CIRCLE;
}

static void check_world(const carom_world_def *def, cm_findings *findings)
{
    if (def->friction_combine != CAROM_COMBINE_PRODUCT) {
        cm_find_refused(findings, "friction_combine", PRODUCT);
    }
    if (def->restitution_combine != CAROM_COMBINE_PRODUCT) {
        cm_find_refused(findings, "restitution_combine", PRODUCT);
    }
    if (is_circle(def) && !def->planar) {
        cm_find_refused(findings, "solver.impulse.model",
                        "another than circle, or \"planar\": true: circles lie in the plane");
    }
    if (!is_circle(def) && def->solver.impulse.pixel != 0.0f) {
        cm_find_ignored(findings, "solver.impulse.pixel", "the circle model: no other rounds");
    }
}

static void check_shape(const carom_world_def *world, const carom_shape_def *def,
                        cm_findings *findings)
{
    if (def->friction > 1.0f) {
        cm_find_refused(findings, "friction", FRACTION);
    }
    if (is_circle(world) && def->type != CAROM_SHAPE_SPHERE) {
        cm_find_refused(findings, "type", "a sphere: the circle model has no other shape");
    }
    carom_vec3 v = def->surface_velocity;
    if (v.x != 0.0f || v.y != 0.0f || v.z != 0.0f) {
        cm_find_refused(findings, "surface_velocity", "0: this solver has none, the others do");
    }
    cm_refuse_rolling(def, findings);
    cm_refuse_lcp_of_shape(def, findings);
}

static void check_joint(const carom_joint_def *def, cm_findings *findings)
{
    (void)def;
    cm_find_refused(findings, "", "none: the impulse solver has no joints");
}

static void check_pair(const carom_pair_rule *rule, cm_findings *findings)
{
    if (rule->friction > 1.0f) {
        cm_find_refused(findings, "friction", FRACTION);
    }
}

const cm_scene_rules cm_impulse_rules = {
    .world = check_world,
    .body = cm_refuse_lcp_of_body,
    .shape = check_shape,
    .joint = check_joint,
    .pair = check_pair,
};
