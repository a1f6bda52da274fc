// Demands of the lcp solver on scenes: a contact mode that names a direction has one, slip is the
// tyre's, and it has neither rolling friction nor restitution.
#include "shared/sim/solve/lcp/lcp.h"

#include "shared/sim/solve/rules.h"

#define OF_TYRE "none: the mode tyre alone reads it"

static void check_world(const carom_world_def *def, cm_findings *findings)
{
    const carom_lcp_def *lcp = &def->solver.lcp;
    bool constant = lcp->friction_model == CAROM_FRICTION_BOX_CONSTANT;
    if (constant && lcp->max_friction == 0.0f) {
        cm_find_ignored(findings, "solver.lcp.max_friction",
                        "above 0: without it the box_constant model rubs with 0 N");
    }
    if (!constant && lcp->max_friction != 0.0f) {
        cm_find_ignored(findings, "solver.lcp.max_friction",
                        "the box_constant model: no other reads it");
    }
}

static void check_shape(const carom_world_def *world, const carom_shape_def *def,
                        cm_findings *findings)
{
    (void)world;
    bool tyre = def->contact_mode == CAROM_CONTACT_TYRE;
    carom_vec3 axis = def->contact_axis;
    bool none = axis.x == 0.0f && axis.y == 0.0f && axis.z == 0.0f;
    if (none && (tyre || def->contact_mode == CAROM_CONTACT_1D)) {
        cm_find_refused(findings, "contact_axis", "the direction of this mode");
    }
    if (def->contact_slip != 0.0f && !tyre) {
        cm_find_refused(findings, "contact_slip", OF_TYRE);
    }
    if (def->contact_slip_by_speed != 0.0f && !tyre) {
        cm_find_refused(findings, "contact_slip_by_speed", OF_TYRE);
    }
    if (def->contact_trail != 0.0f && !tyre) {
        cm_find_refused(findings, "contact_trail", OF_TYRE);
    }
    cm_refuse_rolling(def, findings);
    cm_ignore_restitution(def, findings);
}

const cm_scene_rules cm_lcp_rules = {
    .world = check_world,
    .shape = check_shape,
    .joint = cm_refuse_joint_friction,
    .pair = cm_ignore_pair_restitution,
};
