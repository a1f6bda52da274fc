// Nets of integers: see net.h. Two for each cube that moved lately, some 90 a frame.
#include "shared/codec/net.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static int16_t hidden_of(int32_t sum)
{
    sum >>= 10;
    return (int16_t)(sum < 0 ? 0 : sum > CM_NET_HIDDEN_MAX ? CM_NET_HIDDEN_MAX : sum);
}

void cm_net_run_plain(const cm_net *net, const int16_t input[CM_NET_INPUTS],
                      int32_t output[CM_NET_OUTPUTS])
{
    int32_t sum[CM_NET_HIDDEN];
    int16_t hidden[CM_NET_HIDDEN];
    memcpy(sum, net->first_bias, sizeof sum);
    for (int p = 0; p < net->inputs / 2; p++) {
        for (int h = 0; h < net->hidden; h++) {
            sum[h] += net->first[p][h][0] * input[2 * p] + net->first[p][h][1] * input[2 * p + 1];
        }
    }
    for (int h = 0; h < net->hidden; h++) {
        hidden[h] = hidden_of(sum[h]);
    }
    memcpy(output, net->second_bias, sizeof net->second_bias);
    for (int p = 0; p < net->hidden / 2; p++) {
        for (int o = 0; o < CM_NET_OUTPUTS; o++) {
            output[o] +=
                net->second[p][o][0] * hidden[2 * p] + net->second[p][o][1] * hidden[2 * p + 1];
        }
    }
    for (int o = 0; o < CM_NET_OUTPUTS; o++) {
        output[o] >>= 7;
    }
}

#if defined(__SSE2__)

static __m128i pair_of(const int16_t *values)
{
    int32_t pair;
    memcpy(&pair, values, sizeof pair);
    return _mm_set1_epi32(pair);
}

// Eight neurons of the hidden layer.
static __m128i hidden_eight(const cm_net *net, const int16_t *input, int from)
{
    __m128i a = _mm_loadu_si128((const __m128i *)&net->first_bias[from]);
    __m128i b = _mm_loadu_si128((const __m128i *)&net->first_bias[from + 4]);
    for (int p = 0; p < net->inputs / 2; p++) {
        const __m128i *weight = (const __m128i *)&net->first[p][from];
        __m128i pair = pair_of(input + 2 * p);
        a = _mm_add_epi32(a, _mm_madd_epi16(_mm_loadu_si128(weight), pair));
        b = _mm_add_epi32(b, _mm_madd_epi16(_mm_loadu_si128(weight + 1), pair));
    }
    __m128i both = _mm_packs_epi32(_mm_srai_epi32(a, 10), _mm_srai_epi32(b, 10));
    return _mm_min_epi16(_mm_max_epi16(both, _mm_setzero_si128()),
                         _mm_set1_epi16(CM_NET_HIDDEN_MAX));
}

void cm_net_run(const cm_net *net, const int16_t input[CM_NET_INPUTS],
                int32_t output[CM_NET_OUTPUTS])
{
    int16_t hidden[CM_NET_HIDDEN];
    __m128i sum[CM_NET_OUTPUTS / 4];
    for (int h = 0; h < net->hidden; h += 8) {
        _mm_storeu_si128((__m128i *)&hidden[h], hidden_eight(net, input, h));
    }
    memcpy(sum, net->second_bias, sizeof sum);
    for (int p = 0; p < net->hidden / 2; p++) {
        __m128i pair = pair_of(hidden + 2 * p);
        for (int o = 0; o < CM_NET_OUTPUTS / 4; o++) {
            const __m128i *weight = (const __m128i *)&net->second[p][4 * o];
            sum[o] = _mm_add_epi32(sum[o], _mm_madd_epi16(_mm_loadu_si128(weight), pair));
        }
    }
    for (int o = 0; o < CM_NET_OUTPUTS / 4; o++) {
        _mm_storeu_si128((__m128i *)&output[4 * o], _mm_srai_epi32(sum[o], 7));
    }
}

#else

void cm_net_run(const cm_net *net, const int16_t input[CM_NET_INPUTS],
                int32_t output[CM_NET_OUTPUTS])
{
    cm_net_run_plain(net, input, output);
}

#endif
