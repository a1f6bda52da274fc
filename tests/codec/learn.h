// A net of floats that learns, and becomes the codec's integers.
#ifndef TESTS_CODEC_LEARN_H
#define TESTS_CODEC_LEARN_H

#include "shared/codec/net.h"
#include "tests/codec/samples.h"

typedef enum learn_stage { LEARN_PLACE, LEARN_TURN } learn_stage;

// What a sample costs in nats, and how that changes with the net's outputs.
double learn_loss(learn_stage stage, const sample *from, const float output[CM_NET_OUTPUTS],
                  float slope[CM_NET_OUTPUTS]);
// Trains a net of so many hidden neurons, telling on stdout how it goes.
void learn_net(learn_stage stage, const sample_list *samples, int hidden, int epochs, cm_net *net);

#endif
