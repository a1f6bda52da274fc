// The built-in models, one for each mode.
#ifndef CM_CODEC_MODELS_H
#define CM_CODEC_MODELS_H

#include "shared/codec/codec.h"
#include "shared/codec/model.h"

extern const cm_codec_model cm_codec_models[CM_CODEC_MODES];

#endif
