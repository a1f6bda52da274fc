// The second walk over a JSON text: the line of a path, and the caps that hold before the JSON
// library sees a byte. The text may be anything: the walk ends at the first thing it does not
// understand, and never reads past the end.
#include <string.h>

#include "shared/scene/map_json.h"

#define DEPTH_MAX      32u
#define CONTAINERS_MAX 1000000u // some 300 bytes each in the JSON library
#define VALUES_MAX     8000000u

typedef struct walk {
    const char *at, *end;
    uint32_t line;
} walk;

static void skip_space(walk *w)
{
    while (w->at < w->end &&
           (*w->at == ' ' || *w->at == '\t' || *w->at == '\n' || *w->at == '\r')) {
        w->line += *w->at == '\n';
        w->at++;
    }
}

static bool take(walk *w, char c)
{
    skip_space(w);
    if (w->at < w->end && *w->at == c) {
        w->at++;
        return true;
    }
    return false;
}

// A string's bytes between its quotes, escapes as they stand.
static bool take_string(walk *w, const char **bytes, size_t *size)
{
    if (!take(w, '"')) {
        return false;
    }
    *bytes = w->at;
    while (w->at < w->end && *w->at != '"') {
        w->at += *w->at == '\\' && w->at + 1 < w->end ? 2 : 1;
    }
    *size = (size_t)(w->at - *bytes);
    return take(w, '"');
}

// One value, whatever it is: brackets are counted, not matched.
static bool skip_value(walk *w)
{
    uint32_t depth = 0;
    do {
        skip_space(w);
        const char *bytes;
        size_t size;
        if (w->at >= w->end) {
            return false;
        }
        if (*w->at == '"') {
            if (!take_string(w, &bytes, &size)) {
                return false;
            }
        } else if (*w->at == '{' || *w->at == '[') {
            depth++;
            w->at++;
        } else if (*w->at == '}' || *w->at == ']') {
            if (depth == 0) {
                return false;
            }
            depth--;
            w->at++;
        } else if (depth > 0 && (*w->at == ',' || *w->at == ':')) {
            w->at++;
        } else {
            const char *first = w->at;
            while (w->at < w->end && strchr(" \t\r\n,:\"[]{}", *w->at) == NULL) {
                w->at++;
            }
            if (w->at == first) {
                return false;
            }
        }
    } while (depth > 0);
    return true;
}

// Up to four hexadecimal digits.
static uint32_t take_hex(const char **at, const char *end)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t value = 0;
    for (uint32_t i = 0; i < 4 && *at < end; i++, (*at)++) {
        const char *found = strchr(digits, **at | 0x20);
        value = value * 16 + (found != NULL ? (uint32_t)(found - digits) : 0);
    }
    return value;
}

static size_t put_utf8(uint32_t c, char *out)
{
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size; i > 1; i--, c >>= 6) {
        out[i - 1] = (char)(0x80 | (c & 0x3f));
    }
    out[0] = (char)(first[size > 1 ? size : 0] | c);
    return size;
}

// Reads an escape from behind its backslash.
static uint32_t take_escape(const char **at, const char *end)
{
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    char c = *(*at)++;
    const char *name = strchr(names, c);
    if (c != 'u') {
        return name != NULL ? (uint8_t)meant[name - names] : (uint8_t)c;
    }
    uint32_t code = take_hex(at, end);
    if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6) { // the first of a pair
        *at += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + (take_hex(at, end) & 0x3ff);
    }
    return code;
}

// A key as it is meant, its escapes resolved, cut to what fits.
static void read_key(const char *bytes, size_t size, char key[CM_JSON_KEY_MAX])
{
    const char *at = bytes, *end = bytes + size;
    size_t length = 0;
    while (at < end && length + 4 < CM_JSON_KEY_MAX) {
        if (*at == '\\' && at + 1 < end) {
            at++;
            length += put_utf8(take_escape(&at, end), key + length);
        } else {
            key[length++] = *at++;
        }
    }
    key[length] = '\0';
}

// Moves to the value of `key` in the object that begins here; `line` and `place` are the key's.
static bool enter_key(walk *w, const char *key, uint32_t *line, const char **place)
{
    if (!take(w, '{')) {
        return false;
    }
    do {
        const char *bytes;
        char found[CM_JSON_KEY_MAX];
        size_t size;
        skip_space(w);
        *line = w->line;
        *place = w->at;
        if (!take_string(w, &bytes, &size) || !take(w, ':')) {
            return false;
        }
        read_key(bytes, size, found);
        if (strcmp(found, key) == 0) {
            return true;
        }
    } while (skip_value(w) && take(w, ','));
    return false;
}

static bool enter_index(walk *w, uint32_t index, uint32_t *line)
{
    if (!take(w, '[')) {
        return false;
    }
    for (uint32_t i = 0; i < index; i++) {
        if (!skip_value(w) || !take(w, ',')) {
            return false;
        }
    }
    skip_space(w);
    *line = w->line;
    return true;
}

// Returns the line; *place is where it begins there.
static uint32_t find(const cm_json_text *text, const cm_check_path *path, const char **place)
{
    walk w = {text->text, text->text + text->size, text->first_line};
    skip_space(&w);
    uint32_t line = w.line;
    *place = w.at;
    for (uint32_t i = 0; i < path->depth && i < CM_PATH_MAX; i++) {
        const cm_path_step *step = &path->steps[i];
        uint32_t inner = 0;
        const char *begin = w.at;
        bool found = step->key != NULL ? enter_key(&w, step->key, &inner, &begin)
                                       : enter_index(&w, step->index, &inner);
        if (!found) {
            break;
        }
        line = inner;
        *place = step->key != NULL ? begin : w.at;
    }
    return line;
}

uint32_t cm_json_find_line(const void *json_text, const cm_check_path *path)
{
    const char *place;
    return find(json_text, path, &place);
}

uint32_t cm_json_find_column(const void *json_text, const cm_check_path *path)
{
    const cm_json_text *text = json_text;
    const char *place, *begin;
    find(text, path, &place);
    for (begin = place; begin > text->text && begin[-1] != '\n'; begin--) {
    }
    return (uint32_t)(place - begin) + 1;
}

// A container begins, in what was found so far.
static void push(cm_json_place *place, bool is_object)
{
    uint32_t depth = place->path.depth++;
    if (depth < CM_PATH_MAX) {
        place->path.steps[depth] = (cm_path_step){NULL, 0};
        place->wants_key[depth] = is_object;
    }
}

// One token, which may be a whole string or number; false where nothing is understood.
static bool place_token(walk *w, cm_json_place *place)
{
    uint32_t depth = place->path.depth, top = depth - 1;
    bool known = depth > 0 && depth <= CM_PATH_MAX;
    const char *bytes;
    size_t size;
    if (*w->at == '"' && known && place->wants_key[top] && take_string(w, &bytes, &size)) {
        read_key(bytes, size, place->keys[top]);
        place->path.steps[top].key = place->keys[top];
        place->wants_key[top] = false;
        return true;
    }
    switch (*w->at) {
    case '{':
    case '[':
        push(place, *w->at == '{');
        break;
    case '}':
    case ']':
        place->path.depth -= depth > 0;
        break;
    case ',':
        if (known) {
            place->wants_key[top] = place->path.steps[top].key != NULL;
            place->path.steps[top].index++;
        }
        break;
    case ':':
        break;
    default:
        return skip_value(w);
    }
    w->at++;
    return true;
}

void cm_json_place_path(const cm_json_text *text, size_t offset, cm_json_place *place)
{
    walk w = {text->text, text->text + text->size, text->first_line};
    place->path.depth = 0;
    do {
        skip_space(&w);
    } while (w.at < w.end && (size_t)(w.at - text->text) < offset && place_token(&w, place));
    uint32_t depth = place->path.depth;
    place->path.depth -= depth > 0 && depth <= CM_PATH_MAX && place->wants_key[depth - 1];
}

bool cm_json_check_size(const cm_json_text *text, cm_check *check)
{
    walk w = {text->text, text->text + text->size, text->first_line};
    uint32_t depth = 0, containers = 0, values = 0;
    const char *bytes;
    size_t size;
    while (w.at < w.end) {
        char c = *w.at;
        if (c == '"') {
            take_string(&w, &bytes, &size);
            continue;
        }
        w.line += c == '\n';
        if (c == '{' || c == '[') {
            depth++;
            containers++;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        } else if (c == ',') {
            values++;
        }
        if (depth > DEPTH_MAX || containers > CONTAINERS_MAX || values > VALUES_MAX) {
            cm_check_fail(check, CAROM_ERROR_LIMIT_SIZE,
                          "nested deeper than %u, or more than %u arrays and objects or %u values",
                          DEPTH_MAX, CONTAINERS_MAX, VALUES_MAX);
            check->error->line = w.line;
            return false;
        }
        w.at++;
    }
    return true;
}
