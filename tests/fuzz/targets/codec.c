// Packets of cubes: any bytes against frames that are held are cubes in range, or refused.
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "tests/unit/codec/frames.h"

#define FRAMES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cm_cube frames[FRAMES][CM_CODEC_CUBES], got[CM_CODEC_CUBES];
    static bool made;
    cm_rng rng;
    cm_rng_seed(&rng, 1);
    for (uint32_t i = 0; i < CM_CODEC_CUBES && !made; i++) {
        frames[0][i] = any_cube(&rng);
    }
    for (int n = 1; n < FRAMES && !made; n++) {
        next_frame(&rng, frames[n - 1], frames[n], 5000, 400);
    }
    made = true;
    cm_codec_held held = {0};
    for (int age = 6; age < 6 + FRAMES; age++) {
        held.by_age[age] = frames[FRAMES - 1 - (age - 6)];
    }
    uint8_t *packet = malloc(size > 0 ? size : 1); // exactly as large
    CM_ASSERT(packet != NULL);
    memcpy(packet, data, size);
    cm_codec_reason reason = cm_codec_decode(&held, packet, size, got);
    CM_ASSERT((unsigned)reason < CM_CODEC_REASONS);
    for (uint32_t i = 0; i < CM_CODEC_CUBES && reason == CM_CODEC_OK; i++) {
        const cm_cube *c = &got[i];
        CM_ASSERT(c->largest >= 0 && c->largest <= 3);
        CM_ASSERT(c->touched == 0 || c->touched == 1);
        CM_ASSERT(c->at[2] >= 0 && c->at[2] <= CM_CUBE_HEIGHT);
        for (int k = 0; k < 3; k++) {
            CM_ASSERT(c->turn[k] >= 0 && c->turn[k] <= CM_CUBE_TURN);
            CM_ASSERT(c->at[k] >= -CM_CUBE_SIDE && c->at[k] <= CM_CUBE_SIDE);
        }
    }
    free(packet);
    return 0;
}
