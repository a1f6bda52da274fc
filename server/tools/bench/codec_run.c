// See codec_run.h. Each packet is decoded from frames that were decoded before, so an error stays
// and shows.
#include "server/tools/bench/codec_run.h"

#include <stdlib.h>
#include <string.h>

#include "server/tools/bench/samples.h"
#include "shared/base/rng.h"

#define SEED 1

typedef struct receiver_end {
    cm_cube *cubes; // as decoded, a frame each CM_CODEC_CUBES
    bool *has;
} receiver_end;

static const cm_cube *frame_of(const cm_cube *cubes, uint32_t frame)
{
    return cubes + (size_t)frame * CM_CODEC_CUBES;
}

// The frames of `cubes` that both ends have when a frame is coded.
static cm_codec_held held_at(const cm_cube *cubes, const bool *has, uint32_t frame)
{
    cm_codec_held held = {0};
    for (uint32_t age = CM_CODEC_RUN_FROM; age < CM_CODEC_AGES && age <= frame; age++) {
        held.by_age[age] = has[frame - age] ? frame_of(cubes, frame - age) : NULL;
    }
    return held;
}

// One way through the recording; times may be NULL.
static double pass_through(const cm_cube_file *file, cm_codec_mode mode, receiver_end *receiver,
                           uint32_t loss, double *times[2], cm_codec_run *run)
{
    static uint8_t bytes[CM_CODEC_BYTES_MAX];
    const size_t frame_bytes = CM_CODEC_CUBES * sizeof(cm_cube);
    double sum = 0.0;
    cm_rng rng;
    cm_rng_seed(&rng, SEED);
    for (uint32_t n = 0; n < file->frames; n++) {
        cm_cube *got = receiver->cubes + (size_t)n * CM_CODEC_CUBES;
        receiver->has[n] = true;
        if (n < CM_CODEC_RUN_FROM) {
            memcpy(got, frame_of(file->cubes, n), frame_bytes);
            continue;
        }
        cm_codec_held sent = held_at(file->cubes, receiver->has, n);
        cm_codec_held held = held_at(receiver->cubes, receiver->has, n);
        double start = cm_bench_thread_ms();
        size_t size = cm_codec_encode(mode, &sent, frame_of(file->cubes, n), bytes, sizeof bytes);
        double coded = cm_bench_thread_ms();
        sum += (double)size;
        if (loss > 0 && cm_rng_below(&rng, 100) < loss) {
            receiver->has[n] = false;
            run->lost++;
            continue;
        }
        double before = cm_bench_thread_ms();
        cm_codec_reason reason = cm_codec_decode(&held, bytes, size, got);
        double after = cm_bench_thread_ms();
        if (times != NULL) {
            double *encode = &times[0][n - CM_CODEC_RUN_FROM];
            double *decode = &times[1][n - CM_CODEC_RUN_FROM];
            *encode = coded - start < *encode ? coded - start : *encode; // ms
            *decode = after - before < *decode ? after - before : *decode;
        }
        if ((reason != CM_CODEC_OK || memcmp(got, frame_of(file->cubes, n), frame_bytes) != 0) &&
            run->wrong_frame == 0) {
            run->wrong_frame = n;
        }
    }
    return sum / run->frames;
}

bool cm_codec_run_measure(const cm_cube_file *file, cm_codec_mode mode, uint32_t runs,
                          cm_codec_run *run)
{
    *run = (cm_codec_run){
        .frames = file->frames > CM_CODEC_RUN_FROM ? file->frames - CM_CODEC_RUN_FROM : 0};
    receiver_end receiver = {calloc((size_t)file->frames * CM_CODEC_CUBES, sizeof(cm_cube)),
                             calloc(file->frames, sizeof(bool))};
    double *times[2] = {calloc(file->frames, sizeof(double)), calloc(file->frames, sizeof(double))};
    bool made = receiver.cubes != NULL && receiver.has != NULL && times[0] != NULL &&
                times[1] != NULL && run->frames > 0;
    if (made) {
        for (uint32_t i = 0; i < run->frames; i++) {
            times[0][i] = times[1][i] = 1e9;
        }
        for (uint32_t i = 0; i < runs; i++) {
            run->bytes_per_frame = pass_through(file, mode, &receiver, 0, times, run);
        }
        cm_samples_summary encode, decode;
        cm_samples_summarise(times[0], run->frames, &encode);
        cm_samples_summarise(times[1], run->frames, &decode);
        run->encode_us = 1e3 * encode.median;
        run->decode_us = 1e3 * decode.median;
        run->encode_us_mean = 1e3 * encode.mean;
        run->decode_us_mean = 1e3 * decode.mean;
        run->lossy_bytes_per_frame =
            pass_through(file, mode, &receiver, CM_CODEC_RUN_LOSS, NULL, run);
    }
    free(receiver.cubes);
    free(receiver.has);
    free(times[0]);
    free(times[1]);
    return made;
}
