// What the trainer learns from: cubes that moved, as the codec sees them, and what became of them.
#ifndef TESTS_CODEC_SAMPLES_H
#define TESTS_CODEC_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/codec/context.h"

typedef struct recording {
    cm_cube *cubes; // CM_CODEC_CUBES to a frame
    int frames;
} recording;

typedef struct sample {
    cm_context context;
    int32_t moved[3];
    cm_cube now;
    bool still, place_changed, turn_changed;
} sample;

typedef struct sample_list {
    sample *at;
    size_t count, capacity;
} sample_list;

#define FIRST_FRAME 14 // that has all of its past
#define AGE         6

recording recording_make(uint64_t seed, int frames);
void recording_past(const recording *from, int frame, cm_past *past);
// Every so many frames of it.
void samples_add(sample_list *list, const recording *from, int first, int every);

#endif
