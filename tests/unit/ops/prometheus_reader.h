// A strict reader of Prometheus' text format, version 0.0.4, written from its documentation: names,
// labels and their escapes, values, one HELP and TYPE before a family's samples, families in one
// piece, no sample twice, buckets that add up. The first thing that is wrong fails the test.
#ifndef TESTS_EXPOSITION_READER_H
#define TESTS_EXPOSITION_READER_H

#include <stdbool.h>
#include <stdint.h>

#define EXPOSITION_SAMPLES_MAX 8192u
#define EXPOSITION_TEXT_MAX    160u

typedef struct exposition_sample {
    char family[EXPOSITION_TEXT_MAX]; // as of its TYPE line
    char type[16];
    char name[EXPOSITION_TEXT_MAX];
    char labels[EXPOSITION_TEXT_MAX]; // as written, without braces
    double value;
} exposition_sample;

typedef struct exposition {
    uint32_t count, families;
    exposition_sample samples[EXPOSITION_SAMPLES_MAX];
} exposition;

// Asserts that it is sound. Static memory: until the next call.
const exposition *exposition_read(const char *text);
// What is wrong with it, or NULL: to try the reader itself.
const char *exposition_wrong(const char *text);
// The value of a sample; asserts that it is there. `labels` as written; "": none.
double exposition_value(const exposition *e, const char *name, const char *labels);
bool exposition_has(const exposition *e, const char *name, const char *labels);

#endif
