// Recordings and samples: see samples.h.
#include "tests/codec/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/bench/crowd.h"

static void *grown(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes);
    if (memory == NULL) {
        fprintf(stderr, "train: out of memory\n");
        exit(1);
    }
    return memory;
}

recording recording_make(uint64_t seed, int frames)
{
    recording made = {grown(NULL, (size_t)frames * CM_CODEC_CUBES * sizeof(cm_cube)), frames};
    cm_crowd *crowd = cm_crowd_new(seed);
    if (crowd == NULL) {
        fprintf(stderr, "train: out of memory\n");
        exit(1);
    }
    for (int i = 0; i < frames; i++) {
        cm_crowd_frame(crowd, made.cubes + (size_t)i * CM_CODEC_CUBES);
    }
    cm_crowd_free(crowd);
    return made;
}

void recording_past(const recording *from, int frame, cm_past *past)
{
    past->base = from->cubes + (size_t)(frame - AGE) * CM_CODEC_CUBES;
    past->ahead = AGE;
    for (int k = 0; k < CM_PAST_SPANS; k++) {
        past->older[k] = past->base - (size_t)CM_CODEC_CUBES * (size_t)cm_past_span[k];
        past->scale[k] = 256;
    }
}

static void add_cube(sample_list *list, const cm_past *past, const cm_lead *lead, uint32_t cube,
                     const cm_cube *now)
{
    const cm_cube *base = &past->base[cube];
    bool still = cube > 0 && cm_context_still(past, cube);
    bool placed = memcmp(now->at, base->at, sizeof now->at) != 0;
    bool turned =
        now->largest != base->largest || memcmp(now->turn, base->turn, sizeof now->turn) != 0;
    if (still && !placed && !turned) {
        return;
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 65536 : 2 * list->capacity;
        list->at = grown(list->at, list->capacity * sizeof *list->at);
    }
    sample *s = &list->at[list->count++];
    *s = (sample){.now = *now, .still = still, .place_changed = placed, .turn_changed = turned};
    cm_context_make(past, lead, cube, &s->context);
    for (int i = 0; i < 3; i++) {
        s->moved[i] = now->at[i] - base->at[i];
    }
}

void samples_add(sample_list *list, const recording *from, int first, int every)
{
    for (int frame = FIRST_FRAME + first; frame < from->frames; frame += every) {
        cm_past past;
        recording_past(from, frame, &past);
        const cm_cube *now = from->cubes + (size_t)frame * CM_CODEC_CUBES;
        cm_lead lead = {{0}, {0}}, alone = {{0}, {0}};
        for (int i = 0; i < 3; i++) {
            alone.at[i] = past.base[0].at[i];
            lead.at[i] = now[0].at[i];
            lead.moved[i] = now[0].at[i] - past.base[0].at[i];
        }
        for (uint32_t cube = 0; cube < CM_CODEC_CUBES; cube++) {
            add_cube(list, &past, cube == 0 ? &alone : &lead, cube, &now[cube]);
        }
    }
}
