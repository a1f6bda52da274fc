// The models that are built in. Changing model.inc changes what packets mean: both ends need it.
#include "shared/codec/models.h"

// Tables stand as plain rows of numbers.
#pragma GCC diagnostic ignored "-Wmissing-braces"

const cm_codec_model cm_codec_models[CM_CODEC_MODES] = {
#include "shared/codec/model.inc"
};
