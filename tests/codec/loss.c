// What coding a sample costs: each value by a logistic distribution, cut into steps, about a
// prediction that is a sum of the sample's terms; each flag by a logit.
#include <math.h>
#include <string.h>

#include "tests/codec/learn.h"

#define SCALE_MIN (-3.0)
#define SCALE_MAX 7.0
#define TAIL      1e-12

static double sigmoid(double x)
{
    return x < -700.0 ? 0.0 : 1.0 / (1.0 + exp(-x));
}

// Slopes by the prediction and by the scale's logarithm.
static double value_cost(double value, double guess, double log_scale, double *by_guess,
                         double *by_scale)
{
    double scale = exp(log_scale), sign = value > guess ? -1.0 : 1.0;
    double high = (0.5 - fabs(value - guess)) / scale, low = high - 1.0 / scale;
    double above = sigmoid(high), below = sigmoid(low), mass = above - below;
    if (mass < TAIL) {
        *by_guess = sign / scale;
        *by_scale = (high + low) / 2.0 + 1.0;
        return fmax(-log(TAIL), log_scale - (high + low) / 2.0);
    }
    *by_guess = sign * (1.0 - above - below) / scale;
    *by_scale = (high * above * (1.0 - above) - low * below * (1.0 - below)) / mass;
    return -log(mass);
}

static double flag_cost(bool flag, double logit, float *slope)
{
    double p = sigmoid(logit);
    *slope = (float)(p - (flag ? 1.0 : 0.0));
    return -log((flag ? p : 1.0 - p) + 1e-9);
}

static double scale_in(double log_scale)
{
    return log_scale < SCALE_MIN ? SCALE_MIN : log_scale > SCALE_MAX ? SCALE_MAX : log_scale;
}

static double place_loss(const sample *s, const float *output, float *slope)
{
    double by_guess, by_scale,
        loss = s->still ? 0.0 : flag_cost(s->place_changed, output[18], &slope[18]);
    if (!s->place_changed) {
        return loss;
    }
    for (int axis = 0; axis < 3; axis++) {
        const int from = axis < 2 ? 0 : CM_PLANE_TERMS, scale = axis < 2 ? 16 : 17;
        double guess = 0.0;
        for (int k = 0; k < 8; k++) {
            guess += output[from + k] * (axis < 2 ? s->context.plane[k][axis] : s->context.lift[k]);
        }
        loss += value_cost(s->moved[axis], guess, scale_in(output[scale]), &by_guess, &by_scale);
        slope[scale] += (float)by_scale;
        for (int k = 0; k < 8; k++) {
            slope[from + k] +=
                (float)(by_guess * (axis < 2 ? s->context.plane[k][axis] : s->context.lift[k]));
        }
    }
    return loss;
}

// The turned quaternion in steps of its code, and how it changes with the half angles.
static void turned(const sample *s, const float *output, double q[4], double by[4][3])
{
    double d[3], square = 0.0, from[4];
    for (int i = 0; i < 3; i++) {
        d[i] = 0.0;
        for (int k = 0; k < CM_TURN_TERMS; k++) {
            d[i] += (double)output[k] * s->context.turn[k][i] / CM_TURN_ONE;
        }
        square += d[i] * d[i];
    }
    for (int i = 0; i < 3 && square > 0.98; i++) {
        d[i] *= sqrt(0.98 / square);
    }
    double w = sqrt(1.0 - fmin(square, 0.98));
    for (int i = 0; i < 4; i++) {
        from[i] = s->context.q[i] / 32.0;
    }
    const double part[4][3] = {{from[3], from[2], -from[1]},
                               {-from[2], from[3], from[0]},
                               {from[1], -from[0], from[3]},
                               {-from[0], -from[1], -from[2]}};
    for (int i = 0; i < 4; i++) {
        q[i] = w * from[i];
        for (int k = 0; k < 3; k++) {
            q[i] += d[k] * part[i][k];
            by[i][k] = part[i][k] - d[k] / w * from[i];
        }
    }
}

static double turn_loss(const sample *s, const float *output, float *slope)
{
    double by_guess, by_scale,
        loss = s->still ? 0.0 : flag_cost(s->turn_changed, output[9], &slope[9]);
    if (!s->turn_changed) {
        return loss;
    }
    double q[4], by[4][3];
    turned(s, output, q, by);
    double sign = q[s->now.largest] < 0.0 ? -1.0 : 1.0;
    for (int i = 0, code = 0; i < 4; i++) {
        if (i == s->now.largest) {
            continue;
        }
        loss += value_cost(s->now.turn[code++], sign * q[i] + CM_CUBE_TURN / 2.0,
                           scale_in(output[8]), &by_guess, &by_scale);
        slope[8] += (float)by_scale;
        for (int k = 0; k < CM_TURN_TERMS; k++) {
            for (int axis = 0; axis < 3; axis++) {
                slope[k] +=
                    (float)(by_guess * sign * by[i][axis] * s->context.turn[k][axis] / CM_TURN_ONE);
            }
        }
    }
    return loss;
}

double learn_loss(learn_stage stage, const sample *from, const float output[CM_NET_OUTPUTS],
                  float slope[CM_NET_OUTPUTS])
{
    memset(slope, 0, CM_NET_OUTPUTS * sizeof *slope);
    return stage == LEARN_PLACE ? place_loss(from, output, slope) : turn_loss(from, output, slope);
}
