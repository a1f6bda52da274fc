// Findings, and the rules that several solvers share; see rules.h.
#include "shared/sim/solve/rules.h"

#define OF_LCP   "none: the lcp solver alone reads it"
#define NO_SENSE "0: it has no meaning to this solver"

static void tell(cm_findings *findings, carom_result result, const char *field,
                 const char *expected)
{
    const carom_error finding = {result, field, expected, findings->shape};
    if (findings->to != NULL && findings->to->found != NULL) {
        findings->to->found(findings->to->context, &finding);
    }
}

void cm_find_refused(cm_findings *findings, const char *field, const char *expected)
{
    findings->refused = true;
    tell(findings, CAROM_ERROR_ARGUMENT, field, expected);
}

void cm_find_ignored(cm_findings *findings, const char *field, const char *expected)
{
    tell(findings, CAROM_OK, field, expected);
}

void cm_refuse_lcp_of_body(const carom_body_def *def, cm_findings *findings)
{
    if (def->epsilon >= 0.0f) {
        cm_find_refused(findings, "epsilon", OF_LCP);
    }
    if (def->gamma >= 0.0f) {
        cm_find_refused(findings, "gamma", OF_LCP);
    }
}

void cm_refuse_lcp_of_shape(const carom_shape_def *def, cm_findings *findings)
{
    if (def->contact_mode != CAROM_CONTACT_2D) {
        cm_find_refused(findings, "contact_mode", OF_LCP);
    }
    carom_vec3 axis = def->contact_axis;
    if (axis.x != 0.0f || axis.y != 0.0f || axis.z != 0.0f) {
        cm_find_refused(findings, "contact_axis", OF_LCP);
    }
    if (def->contact_slip != 0.0f) {
        cm_find_refused(findings, "contact_slip", OF_LCP);
    }
    if (def->contact_max_force != 0.0f) {
        cm_find_refused(findings, "contact_max_force", OF_LCP);
    }
    if (def->contact_slip_by_speed != 0.0f) {
        cm_find_refused(findings, "contact_slip_by_speed", OF_LCP);
    }
    if (def->contact_trail != 0.0f) {
        cm_find_refused(findings, "contact_trail", OF_LCP);
    }
}

void cm_refuse_lcp_of_joint(const carom_joint_def *def, cm_findings *findings)
{
    if (def->epsilon >= 0.0f) {
        cm_find_refused(findings, "epsilon", OF_LCP);
    }
    if (def->gamma >= 0.0f) {
        cm_find_refused(findings, "gamma", OF_LCP);
    }
    if (def->spring_velocity != 0.0f) {
        cm_find_refused(findings, "spring_velocity", OF_LCP);
    }
}

void cm_refuse_rolling(const carom_shape_def *def, cm_findings *findings)
{
    if (def->rolling_friction != 0.0f) {
        cm_find_refused(findings, "rolling_friction", "0: this solver has none, the soft one does");
    }
    if (def->spin_friction != 0.0f) {
        cm_find_refused(findings, "spin_friction", "0: this solver has none, the soft one does");
    }
}

void cm_refuse_joint_friction(const carom_joint_def *def, cm_findings *findings)
{
    if (def->friction != 0.0f) {
        cm_find_refused(findings, "friction", "0: this solver has none, the soft one does");
    }
}

void cm_ignore_restitution(const carom_shape_def *def, cm_findings *findings)
{
    if (def->restitution != 0.0f && !def->sensor) {
        cm_find_ignored(findings, "restitution", NO_SENSE);
    }
}

void cm_ignore_pair_restitution(const carom_pair_rule *rule, cm_findings *findings)
{
    if (rule->restitution > 0.0f) { // below: as combined
        cm_find_ignored(findings, "restitution", NO_SENSE);
    }
}
