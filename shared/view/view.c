// World to quantised body and back; the bits are in view_delta.c.
//
// Invariants: a number from a world becomes an integer only after a comparison that NaN fails and
// after clamping, so that no float out of range is ever converted; the arithmetic is binary64 with
// + - * / and a binary32 square root, so that every build quantises alike.
//
//   FIELD        ONE STEP                RANGE
//   position     position_step           lower + 0 … 2^bits - 1 steps
//   orientation  1/(1023 sqrt 2)         code 0 … 2046, 1023 is zero (2047 is read, never written)
//   linear       1/256 m/s               +-32767 steps
//   angular      1/256 rad/s             +-16383 steps
// 400 bodies are quantised each tick.
#include "shared/view/view.h"

#include "shared/base/vec.h"

#include <string.h>

#define ORIENTATION_ZERO 1023
#define SQRT_HALF        0.70710678118654752

// To the nearest integer, halves upward; NaN gives 0. low >= 0 or high < 2^31 in magnitude.
static int64_t round_clamped(double value, int64_t low, int64_t high)
{
    if (!(value > (double)low)) {
        return value <= (double)low || low > 0 ? low : 0;
    }
    if (value >= (double)high) {
        return high;
    }
    // In range now: truncation toward zero after a shift to positive values is a floor.
    return (int64_t)(value - (double)low + 0.5) + low;
}

carom_result cm_view_config_make(carom_vec3 lower, carom_vec3 upper, float position_step,
                                 cm_view_config *config)
{
    memset(config, 0, sizeof *config);
    if (!cm_vec_is_finite(lower) || !cm_vec_is_finite(upper) || !cm_is_finite(position_step)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    if (!(position_step >= 1.0e-5f && position_step <= 1.0e3f)) {
        return CAROM_ERROR_ARGUMENT;
    }
    const double low[3] = {lower.x, lower.y, lower.z}, high[3] = {upper.x, upper.y, upper.z};
    uint32_t axis_bits[3];
    for (int axis = 0; axis < 3; axis++) {
        double steps = (high[axis] - low[axis]) / (double)position_step;
        if (!(steps >= 1.0 && steps <= (double)(1u << CM_VIEW_POSITION_BITS_MAX) - 1.0)) {
            return CAROM_ERROR_ARGUMENT;
        }
        uint32_t bits = 1;
        while ((double)((UINT64_C(1) << bits) - 1) < steps) {
            bits++;
        }
        axis_bits[axis] = bits;
    }
    config->lower = lower;
    config->position_step = position_step;
    memcpy(config->position_bits, axis_bits, sizeof axis_bits);
    return CAROM_OK;
}

// Smallest three: the largest component, made positive, follows from the others.
static void quantise_orientation(carom_quat q, cm_view_body *body)
{
    q = cm_quat_is_finite(q) ? cm_quat_normalize(q) : cm_quat_identity();
    const float c[4] = {q.x, q.y, q.z, q.w};
    uint32_t largest = 0;
    for (uint32_t i = 1; i < 4; i++) {
        if (cm_abs(c[i]) > cm_abs(c[largest])) {
            largest = i;
        }
    }
    double sign = c[largest] < 0.0f ? -1.0 : 1.0;
    body->largest = largest;
    for (uint32_t i = 0, out = 0; i < 4; i++) {
        if (i != largest) {
            double code = sign * (double)c[i] * (ORIENTATION_ZERO / SQRT_HALF);
            body->orientation[out++] =
                (uint32_t)(round_clamped(code, -ORIENTATION_ZERO, ORIENTATION_ZERO) +
                           ORIENTATION_ZERO);
        }
    }
}

static void quantise_velocity(carom_vec3 v, double step, uint32_t bits, int32_t out[3])
{
    const float c[3] = {v.x, v.y, v.z};
    int64_t most = (INT64_C(1) << (bits - 1)) - 1;
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = (int32_t)round_clamped((double)c[axis] / step, -most, most);
    }
}

void cm_view_quantise(const cm_view_config *config, const carom_body_state *state,
                      bool with_velocity, cm_view_body *body)
{
    memset(body, 0, sizeof *body);
    const float position[3] = {state->position.x, state->position.y, state->position.z};
    const float lower[3] = {config->lower.x, config->lower.y, config->lower.z};
    for (int axis = 0; axis < 3; axis++) {
        double steps =
            ((double)position[axis] - (double)lower[axis]) / (double)config->position_step;
        int64_t most = (INT64_C(1) << config->position_bits[axis]) - 1;
        body->position[axis] = (uint32_t)round_clamped(steps, 0, most);
    }
    quantise_orientation(state->orientation, body);
    quantise_velocity(state->linear_velocity, CM_VIEW_LINEAR_STEP, CM_VIEW_LINEAR_BITS,
                      body->linear);
    quantise_velocity(state->angular_velocity, CM_VIEW_ANGULAR_STEP, CM_VIEW_ANGULAR_BITS,
                      body->angular);
    int32_t motion = 0;
    for (int axis = 0; axis < 3; axis++) {
        motion |= body->linear[axis] | body->angular[axis];
    }
    body->at_rest = motion == 0 || state->asleep || state->type == CAROM_BODY_STATIC ? 1 : 0;
    body->has_velocity = with_velocity ? 1 : 0;
    if (body->at_rest != 0 || body->has_velocity == 0) {
        memset(body->linear, 0, sizeof body->linear);
        memset(body->angular, 0, sizeof body->angular);
    }
}

static carom_quat dequantise_orientation(const cm_view_body *body)
{
    float c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    double squares = 0.0;
    uint32_t largest = body->largest & 3u;
    for (uint32_t i = 0, in = 0; i < 4; i++) {
        if (i != largest) {
            int32_t code = (int32_t)(body->orientation[in++] & 2047u) - ORIENTATION_ZERO;
            double value = (double)code * (SQRT_HALF / ORIENTATION_ZERO);
            squares += value * value;
            c[i] = (float)value;
        }
    }
    // Three components that no unit quaternion has (hostile bits): the normalisation below still
    // makes an orientation of them.
    c[largest] = squares < 1.0 ? cm_sqrt((float)(1.0 - squares)) : 0.0f;
    carom_quat q = {c[0], c[1], c[2], c[3]};
    return cm_quat_normalize(q);
}

static carom_vec3 dequantise_velocity(const int32_t v[3], float step)
{
    return cm_vec((float)v[0] * step, (float)v[1] * step, (float)v[2] * step);
}

void cm_view_dequantise(const cm_view_config *config, const cm_view_body *body, cm_view_pose *pose)
{
    double step = (double)config->position_step;
    pose->position = cm_vec((float)((double)config->lower.x + step * (double)body->position[0]),
                            (float)((double)config->lower.y + step * (double)body->position[1]),
                            (float)((double)config->lower.z + step * (double)body->position[2]));
    pose->orientation = dequantise_orientation(body);
    pose->linear_velocity = dequantise_velocity(body->linear, CM_VIEW_LINEAR_STEP);
    pose->angular_velocity = dequantise_velocity(body->angular, CM_VIEW_ANGULAR_STEP);
    pose->at_rest = body->at_rest != 0;
    pose->has_velocity = body->has_velocity != 0;
}
