// The one walk over a frame that encoding, decoding and learning share.
#ifndef CM_CODEC_PASS_H
#define CM_CODEC_PASS_H

#include "shared/codec/codec.h"
#include "shared/codec/model.h"
#include "shared/codec/range.h"
#include "shared/codec/context.h"

typedef enum cm_pass_verb { CM_PASS_WRITE, CM_PASS_READ, CM_PASS_COUNT } cm_pass_verb;

// Writes `cubes`, reads them, or counts what writing them would take. False: what was read lies out
// of range.
bool cm_pass_run(cm_pass_verb verb, const cm_codec_model *model, const cm_past *past,
                 cm_range *range, cm_cube *cubes);

// A hook of the trainer alone, which learns the surprise classes from it: |miss| over its scale
// (1/16), by component.
extern void (*cm_pass_watch)(int component, int surprise, int32_t miss, int32_t scale_log);

#endif
