// Options of commands. Goal: what is meant is taken, anything else is refused, nothing is guessed,
// and the reader itself prints nothing. Method: the reader in process with small tables.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/config/options.h"

typedef struct values {
    int64_t ticks;
    double rate;
    bool events, given;
    const char *format, *file;
    const char *words[2];
    uint32_t count;
    cm_option_error error;
} values;

static bool parse(values *v, int argc, const char **argv)
{
    *v = (values){.ticks = 600, .format = "jsonl"};
    const cm_option options[] = {
        {"ticks", CM_OPTION_INT, &v->ticks, 0, 1000, NULL, &v->given},
        {"rate", CM_OPTION_NUMBER, &v->rate, -1, 1, NULL, NULL},
        {"events", CM_OPTION_FLAG, &v->events, 0, 0, NULL, NULL},
        {"format", CM_OPTION_CHOICE, &v->format, 0, 0, "jsonl|csv", NULL},
        {"file", CM_OPTION_TEXT, &v->file, 0, 0, NULL, NULL},
    };
    return cm_options_read(argc, (char **)argv, options, 5, v->words, 2, &v->count, &v->error);
}

#define PARSE(v, ...)                                                                              \
    parse(v, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                        \
          (const char *[]){__VA_ARGS__})

Test(options, values_both_ways_and_positional)
{
    values v;
    cr_assert(PARSE(&v, "sim", "a", "--ticks", "7", "--rate=-0.5", "--events", "--format=csv",
                    "--file", "--odd", "--", "--b"));
    cr_assert_eq(v.ticks, 7);
    cr_assert(v.given);
    cr_assert_float_eq(v.rate, -0.5, 0);
    cr_assert(v.events);
    cr_assert_str_eq(v.format, "csv");
    cr_assert_str_eq(v.file, "--odd");
    cr_assert_eq(v.count, 2u);
    cr_assert_str_eq(v.words[0], "a");
    cr_assert_str_eq(v.words[1], "--b");
    cr_assert(PARSE(&v, "sim"));
    cr_assert_eq(v.ticks, 600);
    cr_assert_not(v.given);
    cr_assert_eq(v.count, 0u);
}

Test(options, refusals)
{
    values v;
    cr_expect_not(PARSE(&v, "sim", "--tick", "7"), "abbreviated");
    cr_expect_not(PARSE(&v, "sim", "--ticksy", "7"), "longer");
    cr_expect_not(PARSE(&v, "sim", "-t"), "one dash");
    cr_expect_not(PARSE(&v, "sim", "--ticks"), "no value");
    cr_expect_not(PARSE(&v, "sim", "--ticks", "1", "--ticks", "1"), "twice");
    cr_expect_not(PARSE(&v, "sim", "--events=1"), "a flag with a value");
    cr_expect_not(PARSE(&v, "sim", "--format", "xml"), "no choice");
    cr_expect_not(PARSE(&v, "sim", "--format", "json"), "a part of a choice");
    cr_expect_not(PARSE(&v, "sim", "--format="), "empty choice");
    cr_expect_not(PARSE(&v, "sim", "a", "b", "c"), "too many words");
    const char *bad[] = {"", "x", "1x", " 1", "+1", "1.5", "-1", "1001", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_not(PARSE(&v, "sim", "--ticks", bad[i]), "'%s'", bad[i]);
    }
    const char *bad_numbers[] = {"", "nan", "inf", "1e999", "2", "0x1p-1x", "--1"};
    for (size_t i = 0; i < sizeof bad_numbers / sizeof bad_numbers[0]; i++) {
        cr_expect_not(PARSE(&v, "sim", "--rate", bad_numbers[i]), "'%s'", bad_numbers[i]);
    }
    cr_expect_not(PARSE(&v, "sim", "--tick", "7"));
    cr_expect_str_eq(v.error.message, "unknown option '--tick', see 'carom help sim'");
    cr_expect_not(PARSE(&v, "sim", "--rate", "2"));
    cr_expect_str_eq(v.error.message, "--rate: '2', expected a number from -1 to 1");
}
