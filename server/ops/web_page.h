// The page to look at with a browser, whose files are part of the program: page/ beside this file.
#ifndef CM_SERVER_OPS_WEB_PAGE_H
#define CM_SERVER_OPS_WEB_PAGE_H

#include <stdbool.h>

typedef struct cm_web_page {
    const char *type, *text; // constants
} cm_web_page;

// Of a path, "/" being the page itself. False: it is none of its files.
bool cm_web_page_find(const char *path, cm_web_page *page);

#endif
