// Long options of the commands: `--name value`, `--name=value`, `--flag`. Other words are
// positional arguments; `--` ends the options. A table lists the known options; an unknown name, a
// missing value or a number out of range is refused with a message, never guessed.
#ifndef CM_SERVER_CONFIG_OPTIONS_H
#define CM_SERVER_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cm_option_kind {
    CM_OPTION_FLAG,   // value: bool *; --flag, --flag=true or --flag=false
    CM_OPTION_INT,    // value: int64_t *, low to high
    CM_OPTION_NUMBER, // value: double *, low to high, finite
    CM_OPTION_TEXT,   // value: const char **
    CM_OPTION_CHOICE, // value: const char **, one of `choices`
    CM_OPTION_TEXTS,  // value: cm_option_texts *; may be given again and again
} cm_option_kind;

#define CM_OPTION_TEXTS_MAX 64u
#define CM_REFUSED_MAX      512u // bytes of what was refused, and what was expected

typedef struct cm_option_texts {
    uint32_t count;
    const char *texts[CM_OPTION_TEXTS_MAX];
} cm_option_texts;

typedef struct cm_option {
    const char *name; // without the dashes
    cm_option_kind kind;
    void *value;         // keeps what it holds where the option is not given
    double low, high;    // of numbers, inclusive
    const char *choices; // "jsonl|csv"
    bool *given;         // set where the option is given; may be NULL
} cm_option;

typedef struct cm_option_error {
    char message[CM_REFUSED_MAX]; // what is wrong, what was expected; without the command's name
} cm_option_error;

// Reads argv[1] to argv[argc - 1]; argv[0] is the command's name, "token issue". Positional
// arguments are put in order into `positional`. The values point into argv. Prints nothing: false
// with an error where an argument is refused.
bool cm_options_read(int argc, char **argv, const cm_option *options, uint32_t option_count,
                     const char **positional, uint32_t positional_capacity,
                     uint32_t *positional_count, cm_option_error *error);

// A whole decimal number and nothing else; false where it is not, or out of range.
bool cm_parse_int(const char *text, int64_t low, int64_t high, int64_t *value);
bool cm_parse_id(const char *text, uint64_t *value); // 64 bits, digits alone
bool cm_parse_number(const char *text, double low, double high, double *value);
// The number of a text among "a|b|c", from 0 on; -1: it is none of them.
int cm_choice_find(const char *choices, const char *text);

// Fills in the message; always false.
bool cm_refuse(char message[CM_REFUSED_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
