// A text that grows while it is made and is then shared: who sends it slowly keeps the one that it
// began, while the next one is made. Typical: 200 KiB of metrics, three a second.
#ifndef CM_SERVER_OPS_PAGE_H
#define CM_SERVER_OPS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_PAGE_MAX (32u << 20) // bytes

typedef struct cm_page {
    uint32_t holders;
    size_t size, capacity;
    bool cut; // it would be above CM_PAGE_MAX, or memory is short: what came last is not whole
    char *text;
} cm_page;

// Empty, held once; NULL: no memory.
cm_page *cm_page_create(void);
cm_page *cm_page_hold(cm_page *page); // returns it
void cm_page_drop(cm_page *page);     // the last one frees it; of NULL: nothing

void cm_page_bytes(cm_page *page, const void *bytes, size_t size);
void cm_page_text(cm_page *page, const char *text);
void cm_page_uint(cm_page *page, uint64_t value);
// Millionths as a decimal fraction without needless zeros: 1500000 is 1.5.
void cm_page_millionths(cm_page *page, uint64_t value);

#endif
