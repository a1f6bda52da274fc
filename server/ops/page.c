// Grows by doubling.
#include "server/ops/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096u

cm_page *cm_page_create(void)
{
    cm_page *page = calloc(1, sizeof *page);
    if (page != NULL) {
        page->holders = 1;
    }
    return page;
}

cm_page *cm_page_hold(cm_page *page)
{
    page->holders++;
    return page;
}

void cm_page_drop(cm_page *page)
{
    if (page != NULL && --page->holders == 0) {
        free(page->text);
        free(page);
    }
}

static bool make_room(cm_page *page, size_t size)
{
    size_t needed = page->size + size, capacity = page->capacity;
    if (needed <= capacity) {
        return true;
    }
    capacity = capacity == 0 ? FIRST_BYTES : capacity;
    while (capacity < needed) {
        capacity *= 2;
    }
    char *grown = needed <= CM_PAGE_MAX ? realloc(page->text, capacity) : NULL;
    if (grown == NULL) {
        return false;
    }
    page->text = grown;
    page->capacity = capacity;
    return true;
}

void cm_page_bytes(cm_page *page, const void *bytes, size_t size)
{
    if (page->cut || !make_room(page, size)) {
        page->cut = true;
        return;
    }
    if (size > 0) { // of nothing there may be no address
        memcpy(page->text + page->size, bytes, size);
    }
    page->size += size;
}

void cm_page_text(cm_page *page, const char *text)
{
    cm_page_bytes(page, text, strlen(text));
}

void cm_page_uint(cm_page *page, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    cm_page_text(page, digits);
}

void cm_page_millionths(cm_page *page, uint64_t value)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64 ".%06" PRIu64, value / 1000000u,
                          value % 1000000u);
    while (digits[length - 1] == '0') {
        length--;
    }
    length -= digits[length - 1] == '.';
    cm_page_bytes(page, digits, (size_t)length);
}
