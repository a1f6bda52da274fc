// Writes shared/codec/model.inc: make codec-model. It learns from recordings that crowd.c makes,
// each seed another world, and from nothing else; `carom bench codec FILE` then measures the codec
// on recordings that it has never seen.
//
// train FILE [seeds [frames [epochs]]]: 24, 800 and 4 where not given, a minute. Learning for
// longer fits the crowd better and other engines' recordings worse.
#include <stdio.h>
#include <stdlib.h>

#include "shared/codec/codec.h"
#include "tests/codec/learn.h"
#include "tests/codec/tally.h"

#define SEED       301
#define SEEDS_MAX  256
#define EVERY      4 // frames of a recording that are samples
#define FAST_WIDTH 16
#define BEST_WIDTH 48

// What the turn's net also sees: where the cube went, as the place net is surprised by it.
static void after_place(const cm_net *place, sample_list *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        sample *s = &samples->at[i];
        int32_t output[CM_NET_OUTPUTS], guess[3], wrong[3];
        cm_net_run(place, s->context.input, output);
        cm_context_guess(&s->context, output, guess);
        for (int k = 0; k < 3; k++) {
            wrong[k] = (s->moved[k] * 16 - guess[k] + 8) >> 4;
        }
        cm_context_moved(&s->context, s->moved, wrong, output[16] / 64);
    }
}

static int number(int argc, char **argv, int at, int otherwise)
{
    return argc > at ? atoi(argv[at]) : otherwise;
}

int main(int argc, char **argv)
{
    static recording recordings[SEEDS_MAX];
    static cm_codec_model model;
    static const int WIDTH[CM_CODEC_MODES] = {FAST_WIDTH, BEST_WIDTH};
    int seeds = number(argc, argv, 2, 24), frames = number(argc, argv, 3, 800);
    int epochs = number(argc, argv, 4, 4);
    sample_list samples = {0};
    if (argc < 2 || seeds < 1 || seeds > SEEDS_MAX || frames <= FIRST_FRAME) {
        fprintf(stderr, "train: FILE [seeds [frames [epochs]]], expected 1 to %d seeds\n",
                SEEDS_MAX);
        return 2;
    }
    for (int i = 0; i < seeds; i++) {
        recordings[i] = recording_make(SEED + (uint64_t)i, frames);
        samples_add(&samples, &recordings[i], i % EVERY, EVERY);
    }
    printf("train: %d recordings, %zu cubes\n", seeds, samples.count);
    FILE *file = fopen(argv[1], "w");
    if (file == NULL) {
        fprintf(stderr, "train: %s: cannot be written\n", argv[1]);
        return 1;
    }
    fprintf(
        file,
        "// Written by tests/codec/train.c (make codec-model): %d seeds, %d frames, %d epochs.\n",
        seeds, frames, epochs);
    for (int mode = 0; mode < CM_CODEC_MODES; mode++) {
        learn_net(LEARN_PLACE, &samples, WIDTH[mode], epochs, &model.place);
        after_place(&model.place, &samples);
        learn_net(LEARN_TURN, &samples, WIDTH[mode], epochs, &model.turn);
        tally_model(&model, recordings, seeds);
        tally_write(file, &model);
    }
    return fclose(file) == 0 ? 0 : 1;
}
