// UTF-8 that nobody has checked. Goal: code points are read, everything else is told apart, and a
// printable copy never holds a control character nor a cut one. Method: texts by hand at the limits
// of each length; every byte alone; every size of the copy.
#include "shared/base/utf8.h"

#include <criterion/criterion.h>
#include <string.h>

static uint32_t first(const char *text, size_t *length)
{
    const char *at = text;
    uint32_t code = cm_utf8_next(&at);
    *length = (size_t)(at - text);
    return code;
}

Test(utf8, code_points)
{
    static const struct {
        const char *text;
        uint32_t code;
    } cases[] = {{"a", 'a'},
                 {"\xc2\x80", 0x80},
                 {"\xdf\xbf", 0x7ff},
                 {"\xe0\xa0\x80", 0x800},
                 {"\xef\xbf\xbf", 0xffff},
                 {"\xf0\x90\x80\x80", 0x10000},
                 {"\xf4\x8f\xbf\xbf", 0x10ffff},
                 {"\xc0\x80", CM_UTF8_NONE},         // overlong
                 {"\xe0\x9f\xbf", CM_UTF8_NONE},     // overlong
                 {"\xf0\x8f\xbf\xbf", CM_UTF8_NONE}, // overlong
                 {"\xed\xa0\x80", CM_UTF8_NONE},     // a surrogate
                 {"\xf4\x90\x80\x80", CM_UTF8_NONE}, // above the last
                 {"\xe2\x82", CM_UTF8_NONE},         // the end comes too early
                 {"\xc2g", CM_UTF8_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = 0;
        cr_expect_eq(first(cases[i].text, &length), cases[i].code, "case %zu", i);
        cr_expect_eq(length, cases[i].code == CM_UTF8_NONE ? 0 : strlen(cases[i].text), "%zu", i);
    }
    for (uint32_t byte = 0x80; byte < 0x100; byte++) {
        const char text[2] = {(char)byte, '\0'};
        size_t length = 0;
        cr_expect_eq(first(text, &length), CM_UTF8_NONE, "%02x alone", byte);
    }
}

Test(utf8, printable_copies)
{
    static const char text[] = "a\x1b\xc3\xa4\xc2\x9b\xff\n";
    static const char whole[] = "a\\x1b\xc3\xa4\\xc2\\x9b\\xff\\x0a";
    char out[64];
    cm_utf8_printable(text, out, sizeof out);
    cr_assert_str_eq(out, whole);
    for (size_t size = 1; size < sizeof whole; size++) {
        memset(out, 'x', sizeof out);
        cm_utf8_printable(text, out, size);
        cr_expect_lt(strlen(out), size);
        cr_expect_eq(strncmp(out, whole, strlen(out)), 0);
        cr_expect(cm_utf8_is_name(out, size), "not cut within a character: %zu", size);
    }
}

Test(utf8, names)
{
    cr_expect(cm_utf8_is_name("", 0));
    cr_expect(cm_utf8_is_name("K\xc3\xb6ln", 5));
    cr_expect_not(cm_utf8_is_name("K\xc3\xb6ln", 4), "too long");
    cr_expect_not(cm_utf8_is_name("a\x7f", 9));
    cr_expect_not(cm_utf8_is_name("a\xc2\x85", 9));
    cr_expect_not(cm_utf8_is_name("a\xff", 9));
}
