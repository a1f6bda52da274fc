// The trained model of the codec: two nets, and the frequency of each symbol in each context. It is
// constant; the trainer (tests/codec) writes it as model.inc. This one was trained in a build where
// the compiler may reorder sums, and its tables were counted afterwards, so `make codec-model`
// gives another model, whose packets have the same size within a percent or two.
//
// A table of n symbols is their starts among 32,768 shares, the first 0; a flag is the share of 0.
#ifndef CM_CODEC_MODEL_H
#define CM_CODEC_MODEL_H

#include "shared/codec/net.h"

#define CM_VALUE_KINDS   3  // in the plane, upward, of the turn
#define CM_VALUE_SCALES  30 // half octaves
#define CM_VALUE_FINE    16 // scales below this one look at the prediction's own place
#define CM_VALUE_PLACES  20
#define CM_VALUE_TABLES  (CM_VALUE_FINE * CM_VALUE_PLACES + CM_VALUE_SCALES - CM_VALUE_FINE)
#define CM_VALUE_SYMBOLS 48
#define CM_VALUE_MIDDLE  23
#define CM_LOGITS        25 // 24 and what stood still
#define CM_SURPRISES     6

typedef struct cm_codec_tables {
    uint16_t value[CM_VALUE_KINDS][CM_VALUE_TABLES][CM_VALUE_SYMBOLS];
    uint16_t largest[16][4];
    uint16_t woken[12][8];
    uint16_t wake[64];
    uint16_t moved[CM_LOGITS];
    uint16_t turned[2][CM_LOGITS];
    uint16_t touched[2][2][8];
} cm_codec_tables;

typedef struct cm_codec_model {
    cm_net place, turn;
    int16_t surprise[6][CM_SURPRISES]; // added to a scale, 4096 is a factor e
    union {
        cm_codec_tables tables;
        uint16_t shares[sizeof(cm_codec_tables) / sizeof(uint16_t)]; // as they are written
    };
} cm_codec_model;

#endif
