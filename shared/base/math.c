// The public mathematics of modules that is not inline (carom/math.h): binary64 functions of
// mathf.c, rounded once. Typical: some calls a tick and player.
#include "carom/math.h"

#include "shared/base/mathf.h"
#include "shared/base/vec.h"

float carom_sin(float x)
{
    return (float)cm_sin((double)x);
}

float carom_cos(float x)
{
    return (float)cm_cos((double)x);
}

float carom_atan2(float y, float x)
{
    return (float)cm_atan2((double)y, (double)x);
}

float carom_acos(float x)
{
    return (float)cm_acos((double)x);
}

carom_quat carom_quat_of_axis(carom_vec3 axis, float angle)
{
    carom_vec3 unit = cm_normalize(axis);
    float s = (float)cm_sin(0.5 * (double)angle);
    carom_quat q = {s * unit.x, s * unit.y, s * unit.z, (float)cm_cos(0.5 * (double)angle)};
    return cm_length_squared(unit) > 0.0f ? q : cm_quat_identity();
}

float carom_quat_angle(carom_quat q, carom_vec3 *axis)
{
    // The shorter way round.
    carom_quat p = cm_quat_normalize(q);
    float sign = p.w < 0.0f ? -1.0f : 1.0f;
    carom_vec3 v = cm_vec(sign * p.x, sign * p.y, sign * p.z);
    float length = cm_length(v);
    carom_vec3 unit = cm_normalize(v);
    if (axis != NULL) {
        *axis = cm_length_squared(unit) > 0.0f ? unit : cm_vec(1.0f, 0.0f, 0.0f);
    }
    return (float)(2.0 * cm_atan2((double)length, (double)(sign * p.w)));
}
