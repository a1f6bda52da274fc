// A strict reader of Prometheus' text format, version 0.0.4, written from its documentation: names,
// labels and their escapes, values, one HELP and TYPE before a family's samples, families in one
// piece, no sample twice, buckets that add up. The first thing that is wrong fails the test.
#ifndef TESTS_EXPOSITION_READER_H
#define TESTS_EXPOSITION_READER_H

#include <stdbool.h>
#include <stdint.h>

#define EXPOSITION_SAMPLES_MAX 8192u
#define EXPOSITION_TEXT_MAX    160u

typedef struct prometheus_text_sample {
    char family[EXPOSITION_TEXT_MAX]; // as of its TYPE line
    char type[16];
    char name[EXPOSITION_TEXT_MAX];
    char labels[EXPOSITION_TEXT_MAX]; // as written, without braces
    double value;
} prometheus_text_sample;

typedef struct prometheus_text {
    uint32_t count, families;
    prometheus_text_sample samples[EXPOSITION_SAMPLES_MAX];
} prometheus_text;

// Asserts that it is sound. Static memory: until the next call.
const prometheus_text *prometheus_text_read(const char *text);
// What is wrong with it, or NULL: to try the reader itself.
const char *prometheus_text_wrong(const char *text);
// The value of a sample; asserts that it is there. `labels` as written; "": none.
double prometheus_text_value(const prometheus_text *e, const char *name, const char *labels);
bool prometheus_text_has(const prometheus_text *e, const char *name, const char *labels);

#endif
