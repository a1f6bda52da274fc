// A world may hold these values: one set of rules for the API (which says which rule was broken)
// and for decode (whose bytes may be hostile). Private to shared/sim.
//
// Ranges are generous: they keep squares and products of single values finite in binary32, so that
// a world that starts within them computes. What a step makes of them is only asked to be finite.
#ifndef CM_SIM_STATE_CHECK_H
#define CM_SIM_STATE_CHECK_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

#define CM_QUIET_MAX 1.0e6f // s

// Leaves the calling function with the first result that is not OK.
#define CM_TRY(call)                                                                               \
    do {                                                                                           \
        carom_result result_ = (call);                                                             \
        if (result_ != CAROM_OK) {                                                                 \
            return result_;                                                                        \
        }                                                                                          \
    } while (0)

#define CM_LIVE_BODY       "the id of a living body"
#define CM_LIVE_JOINT      "the id of a living joint"
#define CM_UNIT_QUATERNION "a quaternion whose norm is within 1e-2 of 1"

// Tells `error` (which may be NULL) what was refused; returns the result. The texts are constants.
static inline carom_result cm_refuse(carom_error *error, carom_result result, const char *field,
                                     const char *expected)
{
    if (error != NULL) {
        *error = (carom_error){result, field, expected, CAROM_NO_SHAPE};
    }
    return result;
}

// The expected size of a def, as a text.
#define CM_DEFAULT(kind) "what carom_default_" kind "_def of this library sets"

// Leaves the calling function with the result of `call` where it is not OK, and tells the `error`
// in sight that this field was refused.
#define CM_FIELD(call, field, expected)                                                            \
    do {                                                                                           \
        carom_result result_ = (call);                                                             \
        if (result_ != CAROM_OK) {                                                                 \
            return cm_refuse(error, result_, field, expected);                                     \
        }                                                                                          \
    } while (0)
// The same for a condition: ARGUMENT where it does not hold.
#define CM_WANT(holds, field, expected)                                                            \
    CM_FIELD((holds) ? CAROM_OK : CAROM_ERROR_ARGUMENT, field, expected)

// The last carom_solver_type of this build. CM_SOFT_ALONE leaves all but the first out, for a page
// that wants few bytes: worlds of the others are refused.
#ifdef CM_SOFT_ALONE
#define CM_SOLVER_LAST CAROM_SOLVER_SOFT
#else
#define CM_SOLVER_LAST CAROM_SOLVER_VOLUME
#endif

// OK, NOT_FINITE, or ARGUMENT outside [low, high] (of each element's absolute value, for a vector).
carom_result cm_check_float(float value, float low, float high);
carom_result cm_check_vec(carom_vec3 value, float high);
// OK within CAROM_UNIT_TOLERANCE of unit length.
carom_result cm_check_quat(carom_quat value);
carom_result cm_check_unit(carom_vec3 value);

// Whole rows, each by itself: types known, numbers in range, and (for rows of a step's making)
// finite. Indices are the caller's to check. The error names the field of the def that the row was
// made from; it may be NULL.
carom_result cm_check_state(const cm_world_state *state, carom_error *error);
carom_result cm_check_rule(const cm_rule *rule, carom_error *error);
// OK; STATE where the state is another solver's; LIMIT_SIZE where it wants more than the world's
// scratch was made for.
carom_result cm_check_room(const carom_world *world, const cm_world_state *state);
carom_result cm_check_motion(const cm_motion *motion);
carom_result cm_check_body(const cm_body *body, carom_error *error);
carom_result cm_check_shape(const cm_shape *shape, carom_error *error);
// A hull that the world knows, of the size that the row says: else NOT_FOUND or ARGUMENT.
carom_result cm_check_geometry(const carom_world *world, const cm_shape *shape);
// check_contact.c: the common row, and a row of any other section of contacts.
carom_result cm_check_contact(const cm_contact *contact);
carom_result cm_check_remembered(cm_section section, const void *row);
// check_joint.c
carom_result cm_check_joint(const cm_joint *joint, carom_error *error);
// Returns true if joints of a type may have limits (CM_JOINT_LIMITS) or a motor (CM_JOINT_MOTOR).
bool cm_joint_may(uint32_t type, uint32_t flag);

#endif
