// A net of one hidden layer in integers, so that every build predicts alike.
//
// Weights lie in pairs of inputs, so that one instruction takes a pair of four neurons. Sums fit
// 32 bits: inputs stay below 1,024 and hidden values below 4,096.
#ifndef CM_CODEC_NET_H
#define CM_CODEC_NET_H

#include <stdint.h>

#define CM_NET_INPUTS     48
#define CM_NET_HIDDEN     64 // at most; a multiple of 8
#define CM_NET_OUTPUTS    20
#define CM_NET_HIDDEN_MAX 4095 // of a hidden value, 256 is 1

typedef struct cm_net {
    int32_t inputs, hidden;                               // how many of them it has, even
    int16_t first[CM_NET_INPUTS / 2][CM_NET_HIDDEN][2];   // 4096 is 1; of inputs 64 is 1
    int32_t first_bias[CM_NET_HIDDEN];                    // 2^18 is 1
    int16_t second[CM_NET_HIDDEN / 2][CM_NET_OUTPUTS][2]; // 2048 is 1, below 4
    int32_t second_bias[CM_NET_OUTPUTS];                  // 2^19 is 1
} cm_net;

// Outputs: 4096 is 1.
void cm_net_run(const cm_net *net, const int16_t input[CM_NET_INPUTS],
                int32_t output[CM_NET_OUTPUTS]);
// The same by plain C, which tests compare.
void cm_net_run_plain(const cm_net *net, const int16_t input[CM_NET_INPUTS],
                      int32_t output[CM_NET_OUTPUTS]);

#endif
