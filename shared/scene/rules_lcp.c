// Rules for the keys that only the lcp solver has: epsilon and gamma of bodies and joints, contact
// modes of shapes. In a scene of another solver they would be ignored, so they are refused; in one
// of lcp, what names a direction needs one.
#include <math.h>

#include "shared/scene/message.h"

#define AXIS_MIN 1e-6

static bool of_lcp(cm_check *check, const char *key)
{
    return cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT,
                            "a key of the lcp solver, expected no such key");
}

static bool check_contact(cm_check *check, const Cm__Scene__ContactSpec *contact, bool lcp)
{
    bool any =
        contact->has_mode || contact->axis != NULL || contact->has_slip || contact->has_max_force;
    if (!lcp && any) {
        return of_lcp(check, "contact");
    }
    bool tyre = contact->mode == CM__SCENE__CONTACT_SPEC__MODE__TYRE;
    bool directed =
        contact->has_mode && (tyre || contact->mode == CM__SCENE__CONTACT_SPEC__MODE___1D);
    cm_check_key(check, "contact");
    const Cm__Scene__Vec3 *axis = contact->axis;
    double length =
        axis == NULL ? 0.0 : sqrt(axis->x * axis->x + axis->y * axis->y + axis->z * axis->z);
    if ((directed || axis != NULL) && length < AXIS_MIN) {
        return cm_check_fail_at(check, "axis", CAROM_ERROR_ARGUMENT,
                                axis == NULL ? "missing, expected the direction of this mode"
                                             : "an axis of length %.6g, expected a direction",
                                length);
    }
    if (contact->slip != 0.0 && !tyre) {
        return cm_check_fail_at(check, "slip", CAROM_ERROR_ARGUMENT,
                                "given without the mode tyre, expected no such key");
    }
    cm_check_pop(check);
    return true;
}

static bool check_body(cm_check *check, const Cm__Scene__Body *body, bool lcp)
{
    if (!lcp && (body->has_epsilon || body->has_gamma)) {
        return of_lcp(check, body->has_epsilon ? "epsilon" : "gamma");
    }
    cm_check_key(check, "shapes");
    for (size_t i = 0; i < body->n_shapes; ++i) {
        cm_check_index(check, (uint32_t)i);
        const Cm__Scene__ContactSpec *contact = body->shapes[i]->contact;
        if (contact != NULL && !check_contact(check, contact, lcp)) {
            return false;
        }
        cm_check_pop(check);
    }
    cm_check_pop(check);
    return true;
}

static bool check_joints(cm_check *check, const Cm__Scene__Scene *scene)
{
    cm_check_key(check, "joints");
    for (size_t i = 0; i < scene->n_joints; ++i) {
        const Cm__Scene__Joint *joint = scene->joints[i];
        cm_check_index(check, (uint32_t)i);
        if (joint->has_epsilon || joint->has_gamma) {
            return of_lcp(check, joint->has_epsilon ? "epsilon" : "gamma");
        }
        cm_check_pop(check);
    }
    cm_check_pop(check);
    return true;
}

bool cm_check_lcp(cm_check *check, const Cm__Scene__Scene *scene)
{
    bool lcp = scene->solver != NULL && scene->solver->type == CM__SCENE__SOLVER__TYPE__LCP;
    return cm_check_every_body(check, scene, check_body, lcp) &&
           (lcp || check_joints(check, scene));
}
