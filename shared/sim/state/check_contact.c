// Rules for what is remembered of a contact: the common row, and each section of contacts and
// points beside it (contact.h). A step may make any finite numbers; what counts or chooses is in
// its range. See check.h.
#include "shared/sim/state/check.h"

carom_result cm_check_contact(const cm_contact *contact)
{
    bool known = contact->touching <= 1 && contact->point_count <= CM_MANIFOLD_MAX &&
                 contact->shape_a < contact->shape_b;
    return known ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

static carom_result check_finite(const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!cm_is_finite(values[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
    }
    return CAROM_OK;
}

static carom_result check_manifold_row(const cm_kept_manifold *manifold)
{
    if (!cm_vec_is_finite(manifold->offset)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    CM_TRY(cm_check_quat(manifold->orientation_a));
    CM_TRY(cm_check_quat(manifold->orientation_b));
    return cm_check_unit(manifold->normal);
}

static carom_result check_soft_row(const cm_soft_contact *contact)
{
    bool finite =
        cm_vec_is_finite(contact->friction_impulse) && cm_is_finite(contact->twist_impulse);
    return finite ? CAROM_OK : CAROM_ERROR_NOT_FINITE;
}

static carom_result check_point_row(const cm_kept_point *point)
{
    bool finite = cm_vec_is_finite(point->anchor) && cm_is_finite(point->separation);
    return finite ? CAROM_OK : CAROM_ERROR_NOT_FINITE;
}

static carom_result check_impulse_row(const cm_impulse_contact *contact)
{
    CM_TRY(check_finite(contact->normal_impulse, CM_MANIFOLD_MAX));
    bool finite =
        cm_vec_is_finite(contact->friction_impulse) && cm_is_finite(contact->twist_impulse);
    return finite ? CAROM_OK : CAROM_ERROR_NOT_FINITE;
}

static carom_result check_lcp_row(const cm_lcp_contact *contact)
{
    CM_TRY(check_finite(contact->normal_force, CM_MANIFOLD_MAX));
    for (uint32_t i = 0; i < CM_MANIFOLD_MAX; i++) {
        CM_TRY(check_finite(contact->friction_force[i], 2));
        if (!cm_vec_is_finite(contact->tangent[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
        for (uint32_t k = 0; k < 3; k++) {
            if (contact->set[i][k] > CM_LCP_SET_MAX) {
                return CAROM_ERROR_ARGUMENT;
            }
        }
    }
    return CAROM_OK;
}

static carom_result check_volume_row(const cm_volume_contact *contact)
{
    CM_TRY(cm_check_unit(contact->normal));
    if (!cm_vec_is_finite(contact->stretch) || !cm_is_finite(contact->twist) ||
        !cm_vec_is_finite(contact->normal_force)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    return contact->friction_state <= CM_VOLUME_STATE_MAX ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_remembered(cm_section section, const void *row)
{
    switch (section) {
    case CM_SECTION_manifold:
        return check_manifold_row(row);
    case CM_SECTION_soft_contact:
        return check_soft_row(row);
    case CM_SECTION_kept_point:
        return check_point_row(row);
    case CM_SECTION_soft_point:
        return check_finite(row, 1);
    case CM_SECTION_impulse_contact:
        return check_impulse_row(row);
    case CM_SECTION_lcp_contact:
        return check_lcp_row(row);
    case CM_SECTION_volume_contact:
        return check_volume_row(row);
    default: // features are numbers without rules
        return CAROM_OK;
    }
}
