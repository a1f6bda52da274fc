// See web_page.h. The rows are made by the Makefile.
#include "server/ops/web_page.h"

#include <string.h>

static const struct {
    const char *name, *text;
} FILES[] = {
#include "http_page.inc"
};

// Arrays WATCH_n of bytes, and WATCH_FILES(X) of name, array and entity tag.
#include "watch_page.inc"

static const struct {
    const char *ending, *type;
} TYPES[] = {{".html", "text/html; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".js", "text/javascript; charset=utf-8"},
             {".wasm", "application/wasm"}};

static const char *type_of(const char *name)
{
    const char *ending = strrchr(name, '.');
    for (size_t t = 0; ending != NULL && t < sizeof TYPES / sizeof TYPES[0]; t++) {
        if (strcmp(TYPES[t].ending, ending) == 0) {
            return TYPES[t].type;
        }
    }
    return NULL;
}

static bool find_watch(const char *name, cm_web_page *page)
{
#define WATCH_ROW(file, data, tag)                                                                 \
    if (strcmp(file, name) == 0) {                                                                 \
        *page = (cm_web_page){type_of(name), data, sizeof data, "gzip", tag};                      \
        return page->type != NULL;                                                                 \
    }
    WATCH_FILES(WATCH_ROW)
#undef WATCH_ROW
    (void)name, (void)page;
    return false;
}

bool cm_web_page_find(const char *path, cm_web_page *page)
{
    size_t place = strlen(CM_WATCH_PLACE);
    if (strncmp(path, CM_WATCH_PLACE, place) == 0) {
        return find_watch(path[place] == '\0' ? "index.html" : path + place, page);
    }
    const char *name = strcmp(path, "/") == 0 ? "index.html" : path + 1;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        if (strcmp(FILES[i].name, name) == 0 && type_of(name) != NULL) {
            *page = (cm_web_page){
                .type = type_of(name), .bytes = FILES[i].text, .size = strlen(FILES[i].text)};
            return true;
        }
    }
    return false;
}
