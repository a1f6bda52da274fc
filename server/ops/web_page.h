// Pages to look at with a browser, whose files are part of the program: "/" is that of the server's
// figures (page/ beside this file); CM_WATCH_PLACE, by which matches are watched, is in a program
// that was built after it (`make web-page`), and is stored packed.
#ifndef CM_SERVER_OPS_WEB_PAGE_H
#define CM_SERVER_OPS_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#define CM_WATCH_PLACE "/watch/"

typedef struct cm_web_page { // constants
    const char *type;
    const void *bytes;
    size_t size;
    const char *encoding; // "gzip"; NULL: none
    const char *etag;     // of its bytes, digits; NULL: they are not to be kept
} cm_web_page;

// Of a path, "/" and CM_WATCH_PLACE being the pages themselves. False: it is none of their files.
bool cm_web_page_find(const char *path, cm_web_page *page);

#endif
