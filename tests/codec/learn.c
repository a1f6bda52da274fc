// Learning by Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), the rate
// falling as a cosine. One thread and one seed: the same net from the same samples by one build.
#include "tests/codec/learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/rng.h"

#define BATCH        128
#define RATE         0.002
#define HIDDEN_LIMIT 15.99f
#define FIRST_LIMIT  7.9f
#define SECOND_LIMIT 3.9f
#define SLOPE_LIMIT  200.0f
#define REPORTS      5

typedef struct weights {
    float first[CM_NET_HIDDEN][CM_NET_INPUTS], first_bias[CM_NET_HIDDEN];
    float second[CM_NET_OUTPUTS][CM_NET_HIDDEN], second_bias[CM_NET_OUTPUTS];
} weights;

#define WEIGHTS (sizeof(weights) / sizeof(float))

typedef struct learner {
    weights now, slope, mean, square;
    int inputs, hidden;
    int64_t steps;
    cm_rng rng;
} learner;

static void forward(const learner *l, const float *input, float *hidden, float *output)
{
    for (int h = 0; h < l->hidden; h++) {
        float sum = l->now.first_bias[h];
        for (int i = 0; i < l->inputs; i++) {
            sum += l->now.first[h][i] * input[i];
        }
        hidden[h] = sum < 0.0f ? 0.0f : sum > HIDDEN_LIMIT ? HIDDEN_LIMIT : sum;
    }
    for (int o = 0; o < CM_NET_OUTPUTS; o++) {
        output[o] = l->now.second_bias[o];
        for (int h = 0; h < l->hidden; h++) {
            output[o] += l->now.second[o][h] * hidden[h];
        }
    }
}

static void backward(learner *l, const float *input, const float *hidden, const float *by_output)
{
    float by_hidden[CM_NET_HIDDEN] = {0};
    for (int o = 0; o < CM_NET_OUTPUTS; o++) {
        float slope = by_output[o];
        slope = slope > SLOPE_LIMIT ? SLOPE_LIMIT : slope < -SLOPE_LIMIT ? -SLOPE_LIMIT : slope;
        l->slope.second_bias[o] += slope;
        for (int h = 0; h < l->hidden && slope != 0.0f; h++) {
            l->slope.second[o][h] += slope * hidden[h];
            by_hidden[h] += slope * l->now.second[o][h];
        }
    }
    for (int h = 0; h < l->hidden; h++) {
        if (hidden[h] > 0.0f && hidden[h] < HIDDEN_LIMIT) {
            l->slope.first_bias[h] += by_hidden[h];
            for (int i = 0; i < l->inputs; i++) {
                l->slope.first[h][i] += by_hidden[h] * input[i];
            }
        }
    }
}

static void limit(float *values, size_t count, float most)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = values[i] > most ? most : values[i] < -most ? -most : values[i];
    }
}

static void improve(learner *l, float rate)
{
    float *now = (float *)&l->now, *slope = (float *)&l->slope, *mean = (float *)&l->mean;
    float *square = (float *)&l->square;
    l->steps++;
    float first = 1.0f - powf(0.9f, (float)l->steps), second = 1.0f - powf(0.999f, (float)l->steps);
    for (size_t i = 0; i < WEIGHTS; i++) {
        float s = slope[i] / BATCH;
        mean[i] = 0.9f * mean[i] + 0.1f * s;
        square[i] = 0.999f * square[i] + 0.001f * s * s;
        now[i] -= rate * (mean[i] / first) / (sqrtf(square[i] / second) + 1e-8f);
        slope[i] = 0.0f;
    }
    limit(l->now.first[0], CM_NET_HIDDEN * CM_NET_INPUTS, FIRST_LIMIT);
    limit(l->now.first_bias, CM_NET_HIDDEN, FIRST_LIMIT);
    limit(l->now.second[0], CM_NET_OUTPUTS * CM_NET_HIDDEN, SECOND_LIMIT);
    limit(l->now.second_bias, CM_NET_OUTPUTS, FIRST_LIMIT);
}

// Small numbers, and predictions that begin as half of what the speed says.
static void begin(learner *l, learn_stage stage, int hidden)
{
    memset(l, 0, sizeof *l);
    l->inputs = stage == LEARN_PLACE ? CM_CONTEXT_INPUTS : CM_CONTEXT_INPUTS + CM_TURN_INPUTS;
    l->hidden = hidden;
    cm_rng_seed(&l->rng, 1 + stage);
    for (int h = 0; h < hidden; h++) {
        for (int i = 0; i < l->inputs; i++) {
            l->now.first[h][i] = cm_rng_range(&l->rng, -0.125f, 0.125f);
        }
        for (int o = 0; o < CM_NET_OUTPUTS; o++) {
            l->now.second[o][h] = cm_rng_range(&l->rng, -0.01f, 0.01f);
        }
    }
    float *bias = l->now.second_bias;
    bias[2] = 0.5f;
    if (stage == LEARN_PLACE) {
        bias[1] = 0.2f;
        bias[CM_PLANE_TERMS + 2] = 0.4f;
        bias[16] = bias[17] = 1.0f;
    } else {
        bias[4] = 0.2f;
        bias[8] = 1.0f;
    }
}

static void to_integers(const learner *l, cm_net *net)
{
    memset(net, 0, sizeof *net);
    net->inputs = l->inputs;
    net->hidden = l->hidden;
    for (int h = 0; h < l->hidden; h++) {
        net->first_bias[h] = (int32_t)lrintf(262144.0f * l->now.first_bias[h]);
        for (int i = 0; i < l->inputs; i++) {
            net->first[i / 2][h][i % 2] = (int16_t)lrintf(4096.0f * l->now.first[h][i]);
        }
    }
    for (int o = 0; o < CM_NET_OUTPUTS; o++) {
        net->second_bias[o] = (int32_t)lrintf(524288.0f * l->now.second_bias[o]);
        for (int h = 0; h < l->hidden; h++) {
            net->second[h / 2][o][h % 2] = (int16_t)lrintf(2048.0f * l->now.second[o][h]);
        }
    }
}

void learn_net(learn_stage stage, const sample_list *samples, int hidden, int epochs, cm_net *net)
{
    static learner l;
    begin(&l, stage, hidden);
    int64_t total = (int64_t)samples->count * epochs / BATCH;
    double cost = 0.0, seen = 0.0;
    for (int64_t step = 0; step < total; step++) {
        for (int i = 0; i < BATCH; i++) {
            const sample *s = &samples->at[cm_rng_below(&l.rng, (uint32_t)samples->count)];
            float input[CM_NET_INPUTS], hidden_values[CM_NET_HIDDEN], output[CM_NET_OUTPUTS];
            float slope[CM_NET_OUTPUTS];
            for (int k = 0; k < l.inputs; k++) {
                input[k] = (float)s->context.input[k] / 64.0f;
            }
            forward(&l, input, hidden_values, output);
            cost += learn_loss(stage, s, output, slope);
            backward(&l, input, hidden_values, slope);
            seen++;
        }
        double done = (double)step / (double)total;
        double share = done < 0.02 ? done / 0.02 : 0.5 * (1.0 + cos(3.14159265 * done));
        improve(&l, (float)(RATE * share + 1e-6));
        if ((step + 1) % (total / REPORTS) == 0) {
            printf("train: %s, %d hidden, %3.0f%%: %.3f bits a cube\n",
                   stage == LEARN_PLACE ? "place" : "turn", hidden, 100.0 * done,
                   cost / seen / log(2.0));
            fflush(stdout);
            cost = seen = 0.0;
        }
    }
    to_integers(&l, net);
}
