// See web_page.h. The rows are made by the Makefile.
#include "server/ops/web_page.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *text;
} FILES[] = {
#include "http_page.inc"
};

static const struct {
    const char *ending, *type;
} TYPES[] = {{".html", "text/html; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".js", "text/javascript; charset=utf-8"}};

bool cm_web_page_find(const char *path, cm_web_page *page)
{
    const char *name = strcmp(path, "/") == 0 ? "index.html" : path + 1;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        const char *ending = strrchr(name, '.');
        for (size_t t = 0; ending != NULL && t < sizeof TYPES / sizeof TYPES[0]; t++) {
            if (strcmp(FILES[i].name, name) == 0 && strcmp(TYPES[t].ending, ending) == 0) {
                *page = (cm_web_page){TYPES[t].type, FILES[i].text};
                return true;
            }
        }
    }
    return false;
}
