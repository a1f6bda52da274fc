// Definitions held against the rules of worlds and of their solvers, before there is a world; see
// carom/check.h. What every solver has in common stands here, but for the world itself (world.c).
#include "carom/check.h"

#include "shared/sim/body/shape.h"
#include "shared/sim/solve/rules.h"
#include "shared/sim/solve/solver.h"
#include "shared/sim/state/check.h"

#define TRIANGLE 1.0e-3f // by which rounded inertias may break the inequality

static void base(cm_findings *findings, carom_result result, const carom_error *error)
{
    if (result != CAROM_OK) {
        findings->shape = error->shape;
        cm_find_refused(findings, error->field, error->expected);
        findings->shape = CAROM_NO_SHAPE;
    }
}

static const cm_scene_rules *rules_of(const carom_world_def *def)
{
    static const cm_scene_rules none = {0};
    bool known = (unsigned)def->solver.type <= CM_SOLVER_LAST;
    return known ? cm_solver_of((uint32_t)def->solver.type)->rules : &none;
}

// Three moments of a body of matter: none is above the sum of the other two.
static void check_inertia(const carom_body_def *def, cm_findings *findings)
{
    carom_vec3 i = def->inertia;
    float slack = 1.0f + TRIANGLE;
    bool possible =
        i.x <= (i.y + i.z) * slack && i.y <= (i.x + i.z) * slack && i.z <= (i.x + i.y) * slack;
    if (!possible) {
        cm_find_ignored(findings, "inertia",
                        "moments of which none is above the sum of the other two: no body has "
                        "these");
    }
}

static void check_mass(const carom_world_def *world, const carom_body_def *def,
                       cm_findings *findings)
{
    bool fixed = def->type == CAROM_BODY_STATIC;
    if (fixed && def->has_mass) {
        cm_find_ignored(findings, "mass", "none: a static body's mass does nothing");
    }
    if (fixed && def->has_inertia) {
        cm_find_ignored(findings, "inertia", "none: a static body's inertia does nothing");
    }
    if (!fixed && def->has_inertia && !world->planar) { // in the plane one moment alone counts
        check_inertia(def, findings);
    }
}

static void check_plane(const carom_body_def *def, cm_findings *findings)
{
    if (def->linear_velocity.z != 0.0f) {
        cm_find_ignored(findings, "linear_velocity", "z = 0: the world is planar");
    }
    if (def->angular_velocity.x != 0.0f || def->angular_velocity.y != 0.0f) {
        cm_find_ignored(findings, "angular_velocity", "x = y = 0: the world is planar");
    }
    if (def->force.z != 0.0f) {
        cm_find_ignored(findings, "force", "z = 0: the world is planar");
    }
    if (def->torque.x != 0.0f || def->torque.y != 0.0f) {
        cm_find_ignored(findings, "torque", "x = y = 0: the world is planar");
    }
}

bool carom_check_body(const carom_world_def *world, const carom_body_def *def,
                      const carom_shape_def *shapes, uint32_t shape_count, const carom_findings *to)
{
    cm_findings findings = {to, CAROM_NO_SHAPE, false};
    carom_error error = {CAROM_OK, "", "", CAROM_NO_SHAPE};
    base(&findings, cm_body_check(def, shapes, shape_count, world->planar, &error), &error);
    check_mass(world, def, &findings);
    if (world->planar && def->type == CAROM_BODY_DYNAMIC) {
        check_plane(def, &findings);
    }
    const cm_scene_rules *rules = rules_of(world);
    if (rules->body != NULL) {
        rules->body(def, &findings);
    }
    if (rules->matter != NULL && !findings.refused) {
        rules->matter(world, def, shapes, shape_count, &findings);
    }
    for (uint32_t i = 0; i < shape_count && rules->shape != NULL; i++) {
        findings.shape = i;
        rules->shape(world, &shapes[i], &findings);
    }
    return !findings.refused;
}

bool carom_check_joint(const carom_world_def *world, const carom_joint_def *def,
                       const carom_findings *to)
{
    cm_findings findings = {to, CAROM_NO_SHAPE, false};
    const cm_scene_rules *rules = rules_of(world);
    if (rules->joint != NULL) {
        rules->joint(def, &findings);
    }
    return !findings.refused;
}

bool carom_check_pair_rule(const carom_world_def *world, const carom_pair_rule *rule,
                           const carom_findings *to)
{
    cm_findings findings = {to, CAROM_NO_SHAPE, false};
    const cm_scene_rules *rules = rules_of(world);
    if (rules->pair != NULL) {
        rules->pair(rule, &findings);
    }
    return !findings.refused;
}
