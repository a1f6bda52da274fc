// The context of a cube, known to both ends before it is coded: numbers that describe its motion
// (inputs of a net), and vectors whose weighted sum is a prediction. Integers only.
#ifndef CM_CODEC_CONTEXT_H
#define CM_CODEC_CONTEXT_H

#include "shared/codec/cube.h"

// Frames before the baseline that predictions look at, by how much older they are.
#define CM_PAST_SPANS 5
extern const int cm_past_span[CM_PAST_SPANS]; // 1, 2, 4, 6, 8

typedef struct cm_past {
    const cm_cube *base;
    const cm_cube *older[CM_PAST_SPANS]; // base itself where there is none
    int32_t scale[CM_PAST_SPANS];        // 1/256: of a difference to its nominal span
    int32_t ahead;                       // frames from the baseline to what is coded
} cm_past;

#define CM_CONTEXT_INPUTS 40
#define CM_PLANE_TERMS    8
#define CM_LIFT_TERMS     8
#define CM_TURN_TERMS     8
#define CM_TURN_INPUTS    8 // more of them, once the new position is known

// One cube.
typedef struct cm_context {
    int16_t input[CM_CONTEXT_INPUTS + CM_TURN_INPUTS];
    int32_t plane[CM_PLANE_TERMS][2]; // 1/512 m over the time ahead
    int32_t lift[CM_LIFT_TERMS];
    int32_t turn[CM_TURN_TERMS][3]; // half angles, CM_TURN_ONE is 1
    int32_t q[4];                   // of the baseline, CM_TURN_ONE long
    int32_t corner[3];              // from the middle to the lowest corner, 1/512 m
} cm_context;

#define CM_TURN_ONE 11563 // 16 * 511 * sqrt 2

// The motion of the player's cube: its baseline and, once coded, its new place.
typedef struct cm_lead {
    int32_t at[3], moved[3];
} cm_lead;

void cm_context_quat(const cm_cube *cube, int32_t q[4]);
// Of 0 and more; within one.
int32_t cm_context_root(int32_t value);
// Signed, 32 to an octave.
int32_t cm_context_log(int32_t value);
// True if the cube has not changed in any of the past frames.
bool cm_context_still(const cm_past *past, uint32_t cube);
void cm_context_make(const cm_past *past, const cm_lead *lead, uint32_t cube, cm_context *context);
// The movement predicted from the place net's outputs, in 1/16 of 1/512 m.
void cm_context_guess(const cm_context *context, const int32_t *output, int32_t guess[3]);
// Adds the inputs for its turning that follow from its new position.
void cm_context_moved(cm_context *context, const int32_t moved[3], const int32_t wrong[3],
                      int32_t scale);

#endif
