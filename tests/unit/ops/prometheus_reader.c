// Line by line; whatever the format does not name is an error.
#include "tests/unit/ops/prometheus_reader.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    prometheus_text *out;
    char family[EXPOSITION_TEXT_MAX], type[16];
    bool has_help, has_type, has_samples;
    char families[512][EXPOSITION_TEXT_MAX];
    char wrong[512];
} reader;

static prometheus_text read_out;
static reader reading;

static bool fail(const char *line, const char *what)
{
    snprintf(reading.wrong, sizeof reading.wrong, "%s: %.200s", what, line);
    return false;
}

static size_t name_length(const char *text, bool colon)
{
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_' ||
           (colon && text[length] == ':') || (length > 0 && isdigit((unsigned char)text[length]))) {
        length++;
    }
    return length;
}

static bool read_comment(reader *r, const char *line)
{
    bool help = strncmp(line, "# HELP ", 7) == 0;
    if (!help && strncmp(line, "# TYPE ", 7) != 0) {
        return fail(line, "neither HELP nor TYPE");
    }
    const char *name = line + 7;
    size_t length = name_length(name, true);
    if (length == 0 || length >= EXPOSITION_TEXT_MAX || name[length] != ' ' ||
        name[length + 1] == '\0') {
        return fail(line, "expected a name, a blank and a text");
    }
    const char *rest = name + length + 1;
    if (help) {
        char fresh[EXPOSITION_TEXT_MAX];
        snprintf(fresh, sizeof fresh, "%.*s", (int)length, name);
        for (uint32_t i = 0; i < r->out->families; i++) {
            if (strcmp(r->families[i], fresh) == 0) {
                return fail(line, "a family is in two pieces");
            }
        }
        for (const char *at = rest; *at != '\0'; at++) {
            if (*at == '\\' && at[1] != '\\' && at[1] != 'n') {
                return fail(line, "an escape that help has not");
            }
            at += *at == '\\';
        }
        if (r->has_help && !r->has_type) {
            return fail(line, "the family before has no TYPE");
        }
        snprintf(r->family, sizeof r->family, "%s", fresh);
        snprintf(r->families[r->out->families++], sizeof r->families[0], "%s", fresh);
        r->has_help = true;
        r->has_type = r->has_samples = false;
        return r->out->families < 512 || fail(line, "too many families for the reader");
    }
    if (!r->has_help || r->has_type || r->has_samples || strlen(r->family) != length ||
        strncmp(r->family, name, length) != 0) {
        return fail(line, "a TYPE that does not follow its HELP");
    }
    r->has_type = true;
    snprintf(r->type, sizeof r->type, "%.15s", rest);
    bool known = strcmp(rest, "gauge") == 0 || strcmp(rest, "counter") == 0 ||
                 strcmp(rest, "histogram") == 0;
    bool total = length > 6 && strcmp(r->family + length - 6, "_total") == 0;
    if (!known || total != (strcmp(rest, "counter") == 0)) {
        return fail(line, "a type that is none, or counters not named _total");
    }
    return true;
}

// Returns what follows the labels, NULL where they are wrong.
static const char *read_labels(const char *line, const char *at, char labels[EXPOSITION_TEXT_MAX])
{
    const char *begin = at;
    char seen[8][EXPOSITION_TEXT_MAX];
    uint32_t count = 0;
    while (true) {
        size_t length = name_length(at, false);
        if (length == 0 || length >= EXPOSITION_TEXT_MAX || at[length] != '=' ||
            at[length + 1] != '"' || count == 8) {
            fail(line, "expected a label and its value");
            return NULL;
        }
        snprintf(seen[count], sizeof seen[0], "%.*s", (int)length, at);
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(seen[i], seen[count]) == 0) {
                fail(line, "a label twice");
                return NULL;
            }
        }
        count++;
        for (at += length + 2; *at != '"'; at++) {
            bool escape = *at == '\\';
            at += escape;
            if (*at == '\0' || (escape && strchr("\\\"n", *at) == NULL)) {
                fail(line, "a value without its end, or an escape that is none");
                return NULL;
            }
        }
        at++;
        if (*at == '}') {
            snprintf(labels, EXPOSITION_TEXT_MAX, "%.*s", (int)(at - begin), begin);
            return at - begin < (ptrdiff_t)EXPOSITION_TEXT_MAX ? at + 1 : NULL;
        }
        if (*at++ != ',') {
            fail(line, "expected a comma or the end of the labels");
            return NULL;
        }
    }
}

static bool fits_family(const reader *r, const char *name)
{
    size_t length = strlen(r->family);
    if (strncmp(name, r->family, length) != 0) {
        return false;
    }
    const char *suffix = name + length;
    bool histogram = strcmp(r->type, "histogram") == 0;
    return histogram ? strcmp(suffix, "_bucket") == 0 || strcmp(suffix, "_sum") == 0 ||
                           strcmp(suffix, "_count") == 0
                     : suffix[0] == '\0';
}

static bool read_value(const char *text, double *value)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]) && text[0] != '-') {
        return false; // NaN and infinities are of no use to us
    }
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value);
}

static bool read_sample(reader *r, const char *line)
{
    prometheus_text_sample *s = &r->out->samples[r->out->count];
    size_t length = name_length(line, true);
    if (!r->has_type || length == 0 || length >= EXPOSITION_TEXT_MAX) {
        return fail(line, "a sample without a TYPE, or without a name");
    }
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%.*s", (int)length, line);
    snprintf(s->family, sizeof s->family, "%s", r->family);
    snprintf(s->type, sizeof s->type, "%s", r->type);
    const char *at = line + length;
    if (*at == '{') {
        at = read_labels(line, at + 1, s->labels);
    }
    if (at == NULL) {
        return r->wrong[0] != '\0' ? false : fail(line, "labels too long for the reader");
    }
    if (!fits_family(r, s->name)) {
        return fail(line, "a sample of another family");
    }
    if (*at != ' ' || !read_value(at + 1, &s->value) || s->value < 0.0) {
        return fail(line, "expected a blank and a value from 0 on");
    }
    for (uint32_t i = r->out->count;
         i-- > 0 && strcmp(r->out->samples[i].family, s->family) == 0;) {
        if (strcmp(r->out->samples[i].name, s->name) == 0 &&
            strcmp(r->out->samples[i].labels, s->labels) == 0) {
            return fail(line, "a sample twice");
        }
    }
    r->has_samples = true;
    r->out->count++;
    return r->out->count < EXPOSITION_SAMPLES_MAX || fail(line, "too many samples for the reader");
}

// Ascending buckets to +Inf, which is the count.
static bool check_buckets(const prometheus_text *e)
{
    double last = 0.0, bound = -1.0;
    for (uint32_t i = 0; i < e->count; i++) {
        const prometheus_text_sample *s = &e->samples[i];
        size_t length = strlen(s->name);
        if (length > 7 && strcmp(s->name + length - 7, "_bucket") == 0) {
            const char *le = strstr(s->labels, "le=\"");
            double here = le == NULL                        ? -1.0
                          : strncmp(le + 4, "+Inf", 4) == 0 ? HUGE_VAL
                                                            : atof(le + 4);
            if (here <= bound || s->value < last) {
                return fail(s->labels, "buckets that do not ascend");
            }
            bound = here;
            last = s->value;
        } else if (strcmp(s->type, "histogram") == 0 &&
                   strcmp(s->name + length - 6, "_count") == 0) {
            if (bound != HUGE_VAL || s->value != last) {
                return fail(s->name, "the last bucket is not the count");
            }
            bound = -1.0;
            last = 0.0;
        }
    }
    return true;
}

const char *prometheus_text_wrong(const char *text)
{
    reader *r = &reading;
    memset(r, 0, sizeof *r);
    r->out = &read_out;
    r->out->count = r->out->families = 0;
    bool good = true;
    while (good && *text != '\0') {
        char line[1024];
        size_t length = strcspn(text, "\n");
        if (text[length] != '\n' || length == 0 || length >= sizeof line) {
            good = fail(text, "an empty line, one that is too long, or without its end");
            break;
        }
        memcpy(line, text, length);
        line[length] = '\0';
        good = strlen(line) == length && strchr(line, '\r') == NULL &&
               (line[0] == '#' ? read_comment(r, line) : read_sample(r, line));
        text += length + 1;
    }
    good = good && check_buckets(r->out);
    return good ? NULL : r->wrong[0] != '\0' ? r->wrong : "a byte that no line has";
}

const prometheus_text *prometheus_text_read(const char *text)
{
    const char *wrong = prometheus_text_wrong(text);
    cr_assert_null(wrong, "%s", wrong != NULL ? wrong : "");
    return &read_out;
}

static const prometheus_text_sample *find(const prometheus_text *e, const char *name,
                                          const char *labels)
{
    for (uint32_t i = 0; i < e->count; i++) {
        if (strcmp(e->samples[i].name, name) == 0 && strcmp(e->samples[i].labels, labels) == 0) {
            return &e->samples[i];
        }
    }
    return NULL;
}

bool prometheus_text_has(const prometheus_text *e, const char *name, const char *labels)
{
    return find(e, name, labels) != NULL;
}

double prometheus_text_value(const prometheus_text *e, const char *name, const char *labels)
{
    const prometheus_text_sample *s = find(e, name, labels);
    cr_assert_not_null(s, "there is no %s{%s}", name, labels);
    return s->value;
}
