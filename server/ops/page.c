// Grows by doubling. Numbers are written here, since a page of metrics is mostly numbers.
#include "server/ops/page.h"

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
    memcpy(page->text + page->size, bytes, size);
    page->size += size;
}

void cm_page_text(cm_page *page, const char *text)
{
    cm_page_bytes(page, text, strlen(text));
}

void cm_page_uint(cm_page *page, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    cm_page_bytes(page, digits + at, sizeof digits - at);
}

void cm_page_millionths(cm_page *page, uint64_t value)
{
    char digits[7] = ".";
    uint32_t rest = (uint32_t)(value % 1000000u), count = 6;
    cm_page_uint(page, value / 1000000u);
    for (uint32_t i = 6; i > 0; i--, rest /= 10) {
        digits[i] = (char)('0' + rest % 10);
        count = digits[i] == '0' && count == i ? i - 1 : count;
    }
    if (count > 0) {
        cm_page_bytes(page, digits, count + 1);
    }
}
