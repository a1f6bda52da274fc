// Tables from counts: see tally.h.
#include "tests/codec/tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/codec/pass.h"

#define EVERY        3 // frames
#define PRIOR_WEIGHT 20.0
// Recordings of other engines are less regular than the crowd: this share of every table is twice
// as wide as the net says.
#define STRANGE      0.2
#define STRANGE_WIDE 2.0
#define SHORT        0.8 // of what a surprise widens: the scale's own noise makes it look larger
#define WORDS        (sizeof(cm_codec_tables) / sizeof(uint16_t))

static uint32_t counts[2 * WORDS];
static double missed[6][CM_SURPRISES], misses[6][CM_SURPRISES];

static void watch(int component, int surprise, int32_t miss, int32_t scale_log)
{
    double scale = exp(scale_log / 4096.0);
    if (scale >= 0.5) { // below, steps hide what a miss is
        missed[component][surprise] += fmin(8.0, fabs(miss / 16.0) / (1.386 * scale));
        misses[component][surprise]++;
    }
}

static double count_all(const cm_codec_model *model, const recording *recordings, int count)
{
    static cm_cube cubes[CM_CODEC_CUBES];
    double frames = 0.0;
    memset(counts, 0, sizeof counts);
    memset(missed, 0, sizeof missed);
    memset(misses, 0, sizeof misses);
    cm_pass_watch = watch;
    for (int i = 0; i < count; i++) {
        for (int frame = FIRST_FRAME; frame < recordings[i].frames; frame += EVERY) {
            cm_past past;
            cm_range range = {.counts = counts};
            recording_past(&recordings[i], frame, &past);
            memcpy(cubes, recordings[i].cubes + (size_t)frame * CM_CODEC_CUBES, sizeof cubes);
            (void)cm_pass_run(CM_PASS_COUNT, model, &past, &range, cubes);
            frames++;
        }
    }
    cm_pass_watch = NULL;
    return frames;
}

static const uint32_t *counts_of(const cm_codec_model *model, const uint16_t *table)
{
    return counts + (table - (const uint16_t *)&model->tables);
}

// Every symbol keeps a share, so that everything can be said.
static void make_starts(const double *weight, int count, uint16_t *starts)
{
    int share[CM_VALUE_SYMBOLS], used = 0, most = 0;
    double total = 0.0;
    for (int i = 0; i < count; i++) {
        total += weight[i];
        most = weight[i] > weight[most] ? i : most;
    }
    for (int i = 0; i < count; i++) {
        share[i] = 1 + (int)((CM_RANGE_WHOLE - (uint32_t)count) * weight[i] / total);
        used += share[i];
    }
    share[most] += (int)CM_RANGE_WHOLE - used;
    for (int i = 0, at = 0; i < count; i++) {
        starts[i] = (uint16_t)at;
        at += share[i];
    }
}

static void make_symbols(cm_codec_model *model, uint16_t *starts, int tables, int count)
{
    for (int t = 0; t < tables; t++, starts += count) {
        double weight[CM_VALUE_SYMBOLS];
        for (int i = 0; i < count; i++) {
            weight[i] = counts_of(model, starts)[i] + 0.4;
        }
        make_starts(weight, count, starts);
    }
}

static void make_flags(cm_codec_model *model, uint16_t *flags, int count)
{
    for (int i = 0; i < count; i++) {
        const uint32_t *of = counts_of(model, &flags[i]);
        double share = (of[0] + 0.5) / (of[0] + of[WORDS] + 1.0);
        flags[i] = (uint16_t)fmax(4.0, fmin(32764.0, CM_RANGE_WHOLE * share));
    }
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

// A value's share of a logistic distribution of this size about the table's own place.
static double logistic(int symbol, double step, double off, double size)
{
    double low = (symbol - CM_VALUE_MIDDLE) * step - 0.5 - off, high = low + step;
    double above = symbol == CM_VALUE_SYMBOLS - 1 ? 1.0 : sigmoid(high / size);
    return above - (symbol == 0 ? 0.0 : sigmoid(low / size));
}

// Counts; a logistic distribution where too little was seen, and a wider one for what is strange.
static void make_values(cm_codec_model *model, int kind, int table)
{
    bool fine = table < CM_VALUE_FINE * CM_VALUE_PLACES;
    int scale =
        fine ? table / CM_VALUE_PLACES : table - CM_VALUE_FINE * CM_VALUE_PLACES + CM_VALUE_FINE;
    double size = exp((scale - 9) / 2.8854 + 0.17), seen = 0.0;
    double step = scale < 13 ? 1.0 : exp2((scale - 11) / 2);
    double off = fine ? ((table % CM_VALUE_PLACES % 4) * 4 - 6) / 16.0 : 0.0;
    double weight[CM_VALUE_SYMBOLS];
    uint16_t *starts = model->tables.value[kind][table];
    for (int i = 0; i < CM_VALUE_SYMBOLS; i++) {
        seen += counts_of(model, starts)[i];
    }
    for (int i = 0; i < CM_VALUE_SYMBOLS; i++) {
        weight[i] = PRIOR_WEIGHT * (0.98 * logistic(i, step, off, size) + 0.0004) +
                    (1.0 - STRANGE) * counts_of(model, starts)[i] +
                    STRANGE * seen * logistic(i, step, off, STRANGE_WIDE * size);
    }
    make_starts(weight, CM_VALUE_SYMBOLS, starts);
}

static void make_tables(cm_codec_model *model)
{
    cm_codec_tables *t = &model->tables;
    for (int kind = 0; kind < CM_VALUE_KINDS; kind++) {
        for (int table = 0; table < CM_VALUE_TABLES; table++) {
            make_values(model, kind, table);
        }
    }
    make_symbols(model, t->largest[0], sizeof t->largest / sizeof t->largest[0], 4);
    make_symbols(model, t->woken[0], sizeof t->woken / sizeof t->woken[0], 8);
    make_flags(model, t->wake, sizeof t->wake / 2);
    make_flags(model, t->moved, sizeof t->moved / 2);
    make_flags(model, t->turned[0], sizeof t->turned / 2);
    make_flags(model, t->touched[0][0], sizeof t->touched / 2);
}

// How much wider a scale is after a surprise: the logarithm of the mean miss.
static void make_surprises(cm_codec_model *model)
{
    for (int c = 0; c < 6; c++) {
        for (int k = 0; k < CM_SURPRISES; k++) {
            double wider = misses[c][k] > 50 ? log(missed[c][k] / misses[c][k]) : 0.0;
            wider = fmax(-2.0, fmin(3.0, wider));
            model->surprise[c][k] = c % 3 == 0 ? 0 : (int16_t)(4096.0 * SHORT * wider);
        }
    }
}

static double symbol_bits(const cm_codec_model *model, const uint16_t *starts, int tables,
                          int count)
{
    double bits = 0.0;
    for (int t = 0; t < tables; t++, starts += count) {
        for (int i = 0; i < count; i++) {
            double end = i + 1 < count ? starts[i + 1] : CM_RANGE_WHOLE;
            bits -= counts_of(model, starts)[i] * log2((end - starts[i]) / CM_RANGE_WHOLE);
        }
    }
    return bits;
}

static double flag_bits(const cm_codec_model *model, const uint16_t *flags, int count)
{
    double bits = 0.0;
    for (int i = 0; i < count; i++) {
        const uint32_t *of = counts_of(model, &flags[i]);
        bits -= of[0] * log2((double)flags[i] / CM_RANGE_WHOLE) +
                of[WORDS] * log2(1.0 - (double)flags[i] / CM_RANGE_WHOLE);
    }
    return bits;
}

static double plain_bits(const cm_codec_model *model, const uint16_t *starts)
{
    double bits = 0.0;
    for (int table = 0; table < CM_VALUE_TABLES; table++) {
        int scale = table - CM_VALUE_FINE * CM_VALUE_PLACES + CM_VALUE_FINE;
        scale = table < CM_VALUE_FINE * CM_VALUE_PLACES ? table / CM_VALUE_PLACES : scale;
        for (int i = 0; i < CM_VALUE_SYMBOLS && scale >= 13; i++) {
            bits +=
                counts_of(model, starts + table * CM_VALUE_SYMBOLS)[i] * (double)((scale - 11) / 2);
        }
    }
    return bits;
}

static void report(const cm_codec_model *model, double frames)
{
    const cm_codec_tables *t = &model->tables;
    double part[CM_VALUE_KINDS], plain = 0.0, bytes = 8.0 * frames;
    for (int kind = 0; kind < CM_VALUE_KINDS; kind++) {
        part[kind] = symbol_bits(model, t->value[kind][0], CM_VALUE_TABLES, CM_VALUE_SYMBOLS);
        plain += plain_bits(model, t->value[kind][0]);
    }
    double largest = symbol_bits(model, t->largest[0], 16, 4);
    double woken = symbol_bits(model, t->woken[0], 12, 8);
    double wake = flag_bits(model, t->wake, sizeof t->wake / 2);
    double moved = flag_bits(model, t->moved, sizeof t->moved / 2);
    double turned = flag_bits(model, t->turned[0], sizeof t->turned / 2);
    double touched = flag_bits(model, t->touched[0][0], sizeof t->touched / 2);
    double all =
        part[0] + part[1] + part[2] + plain + largest + woken + wake + moved + turned + touched;
    printf("train: %.1f bytes a frame: plane %.1f, up %.1f, turn %.1f, plain %.1f, largest %.1f, "
           "woken %.1f, wake %.1f, moved %.1f, turned %.1f, touched %.1f\n",
           all / bytes, part[0] / bytes, part[1] / bytes, part[2] / bytes, plain / bytes,
           largest / bytes, woken / bytes, wake / bytes, moved / bytes, turned / bytes,
           touched / bytes);
}

void tally_model(cm_codec_model *model, const recording *recordings, int count)
{
    double frames = count_all(model, recordings, count);
    make_tables(model);
    report(model, frames);
    make_surprises(model);
    frames = count_all(model, recordings, count);
    make_tables(model);
    report(model, frames);
}

// As C ------------------------------------------------------------------------------------------

static void write_numbers(FILE *file, const char *name, const void *numbers, size_t bytes, int size)
{
    fprintf(file, ".%s = {", name);
    for (size_t at = 0; at < bytes; at += (size_t)size) {
        int16_t small;
        int32_t large;
        memcpy(&small, (const char *)numbers + at, sizeof small);
        memcpy(&large, (const char *)numbers + at, size == 4 ? sizeof large : sizeof small);
        long value = size == 4 ? large : size == 2 ? small : (long)(uint16_t)small;
        fprintf(file, "%s%ld,", at % (20 * (size_t)size) == 0 ? "\n" : "", value);
    }
    fprintf(file, "},\n");
}

static void write_net(FILE *file, const char *name, const cm_net *net)
{
    fprintf(file, ".%s = {.inputs = %d, .hidden = %d,\n", name, (int)net->inputs, (int)net->hidden);
    write_numbers(file, "first", net->first, sizeof net->first, 2);
    write_numbers(file, "first_bias", net->first_bias, sizeof net->first_bias, 4);
    write_numbers(file, "second", net->second, sizeof net->second, 2);
    write_numbers(file, "second_bias", net->second_bias, sizeof net->second_bias, 4);
    fprintf(file, "},\n");
}

void tally_write(void *to, const cm_codec_model *model)
{
    FILE *file = to;
    fprintf(file, "{\n");
    write_net(file, "place", &model->place);
    write_net(file, "turn", &model->turn);
    write_numbers(file, "surprise", model->surprise, sizeof model->surprise, 2);
    write_numbers(file, "shares", &model->tables, sizeof model->tables, 2);
    fprintf(file, "},\n");
}
