// How often each symbol comes, which makes the codec's tables.
#ifndef TESTS_CODEC_TALLY_H
#define TESTS_CODEC_TALLY_H

#include "shared/codec/model.h"
#include "tests/codec/samples.h"

// Fills the model's tables and what surprises mean, from recordings that its nets have been trained
// on. Prints what the recordings then take.
void tally_model(cm_codec_model *model, const recording *recordings, int count);
// The model as C.
void tally_write(void *file, const cm_codec_model *model);

#endif
