// See api_lists.h. Typical: a hundred lines of 400 bytes.
#include "server/supervisor/api_lists.h"

#include <string.h>

#include "shared/scene/scene_json.h"

#define HEAD       "{\"room\":"
#define QUOTED_MAX (6u * CAROM_ROOM_NAME_MAX + 3u)

typedef struct entry {
    const char *text;
    size_t size;
    const char *name; // with its quotes
    size_t name_size;
} entry;

// The next line of a list; false at its end.
static bool next_line(const cm_page *list, size_t *at, entry *line)
{
    while (*at < list->size) {
        const char *text = list->text + *at;
        const char *end = memchr(text, '\n', list->size - *at);
        size_t size = end != NULL ? (size_t)(end - text) : list->size - *at;
        *at += size + 1;
        while (size > 0 && text[0] != '{') { // the list's '['
            text++;
            size--;
        }
        while (size > 0 && text[size - 1] != '}') { // its ',' and ']'
            size--;
        }
        size_t head = strlen(HEAD), name = head + 1;
        if (size <= name || memcmp(text, HEAD, head) != 0) {
            continue;
        }
        while (name < size && text[name] != '"') {
            name += text[name] == '\\' ? 2 : 1;
        }
        if (name < size) {
            *line = (entry){text, size, text + head, name + 1 - head};
            return true;
        }
    }
    return false;
}

static int compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

bool cm_api_list_has(const cm_page *list, const char *room)
{
    char quoted[QUOTED_MAX];
    size_t at = 0, size = cm_json_quote(room, quoted, sizeof quoted);
    entry line;
    while (next_line(list, &at, &line)) {
        if (compare(line.name, line.name_size, quoted, size) == 0) {
            return true;
        }
    }
    return false;
}

// Into the ordered first ones; what is pushed out is forgotten.
static void insert(entry *first, uint32_t *count, uint32_t limit, const entry *line)
{
    uint32_t at = *count;
    while (at > 0 &&
           compare(line->name, line->name_size, first[at - 1].name, first[at - 1].name_size) < 0) {
        at--;
    }
    if (at < limit) {
        *count += *count < limit;
        memmove(first + at + 1, first + at, (*count - 1 - at) * sizeof *first);
        first[at] = *line;
    }
}

void cm_api_list_write(const cm_page *list, const cm_api_part *part, cm_page *page)
{
    entry first[CM_API_LIST_MAX], line;
    char after[QUOTED_MAX];
    uint32_t count = 0, behind = 0;
    size_t at = 0, size = cm_json_quote(part->after, after, sizeof after);
    while (next_line(list, &at, &line)) {
        if (part->after[0] == '\0' || compare(line.name, line.name_size, after, size) > 0) {
            behind++;
            insert(first, &count, part->limit, &line);
        }
    }
    cm_page_text(page, "{\"rooms\":[");
    for (uint32_t i = 0; i < count; i++) {
        cm_page_text(page, i > 0 ? ",\n" : "");
        cm_page_bytes(page, first[i].text, first[i].size);
    }
    cm_page_text(page, "]");
    if (behind > count) {
        cm_page_text(page, ",\"next\":");
        cm_page_bytes(page, first[count - 1].name, first[count - 1].name_size);
    }
    cm_page_text(page, "}\n");
}

void cm_api_list_write_of(const cm_page *list, const char *room, const char *key, cm_page *page)
{
    char quoted[QUOTED_MAX];
    size_t at = 0, size = cm_json_quote(room, quoted, sizeof quoted);
    bool any = false;
    entry line;
    if (key != NULL) {
        cm_page_text(page, "{\"");
        cm_page_text(page, key);
        cm_page_text(page, "\":[");
    }
    while (next_line(list, &at, &line)) {
        bool is = compare(line.name, line.name_size, quoted, size) == 0;
        if (is && (key != NULL || !any)) {
            cm_page_text(page, any ? ",\n" : "");
            cm_page_bytes(page, line.text, line.size);
            any = true;
        }
    }
    cm_page_text(page, key != NULL ? "]}\n" : "\n");
}
