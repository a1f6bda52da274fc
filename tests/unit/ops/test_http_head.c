// Goal: of the bytes that strangers send to the HTTP port only requests that are answered pass, and
// every other one is refused with its reason. Method: a table of heads; each cut at every byte;
// random bytes.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/ops/http_head.h"
#include "shared/base/rng.h"

#define H      "Host: a\r\n"
#define LONG64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static cm_http_refusal read_text(const char *text, cm_http_request *request)
{
    return cm_http_head_read(text, strlen(text), request);
}

Test(http_head, what_is_answered)
{
    static const struct {
        const char *text, *path;
        bool is_head, by_own_name;
    } rows[] = {
        {"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9401\r\n\r\n", "/metrics", false, true},
        {"GET /metrics?a=b&c HTTP/1.1\r\nhOsT:localhost\r\n\r\n", "/metrics", false, true},
        {"HEAD / HTTP/1.1\r\nHost: [::1]:1\r\nX-A:\r\nX-B: \t b\t \r\n\r\n", "/", true, true},
        {"GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", "/", false, false},
        {"GET / HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", "/", false, false},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "/", false, false},
        {"GET / HTTP/1.0\r\n\r\n", "/", false, false},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n", "/", false, false},
        {"GET / HTTP/1.1\r\n" H "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "/", false,
         false},
        {"GET /%6detrics/../x HTTP/1.1\r\n" H "\r\n", "/%6detrics/../x", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cm_http_request request;
        cr_expect_eq(read_text(rows[i].text, &request), CM_HTTP_GOOD, "%s", rows[i].text);
        cr_expect_str_eq(request.path, rows[i].path);
        cr_expect_eq(request.is_head, rows[i].is_head, "%s", rows[i].text);
        cr_expect_eq(request.by_own_name, rows[i].by_own_name, "%s", rows[i].text);
        for (size_t size = 0; size < strlen(rows[i].text); size++) {
            cr_expect_eq(cm_http_head_read(rows[i].text, size, &request), CM_HTTP_MORE,
                         "%zu bytes of %s", size, rows[i].text);
        }
    }
}

// Goal: one range of bytes is what RFC 9110 says, and anything else is no range.
Test(http_head, ranges)
{
    static const struct {
        const char *text;
        bool has, some;
        uint64_t first, length; // of 100 bytes
    } rows[] = {
        {"bytes=0-9", true, true, 0, 10},
        {"BYTES=99-99", true, true, 99, 1},
        {"bytes=90-", true, true, 90, 10},
        {"bytes=5-1000", true, true, 5, 95},
        {"bytes=-7", true, true, 93, 7},
        {"bytes=-1000", true, true, 0, 100},
        {"bytes=100-", true, false, 0, 0},
        {"bytes=-0", true, false, 0, 0},
        {"bytes=9-8", false, false, 0, 0},
        {"bytes=-", false, false, 0, 0},
        {"bytes=1-2,4-5", false, false, 0, 0},
        {"bytes=a-b", false, false, 0, 0},
        {"items=0-9", false, false, 0, 0},
        {"bytes=99999999999999999999-", false, false, 0, 0},
        {"bytes= 0-9", false, false, 0, 0},
        {"bytes=0-9x", false, false, 0, 0},
        {"bytes=1-2\r\nRange: bytes=3-4", false, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        uint64_t first, length;
        cm_http_request request;
        snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" H "Range: %s\r\n\r\n", rows[i].text);
        cr_assert_eq(read_text(text, &request), CM_HTTP_GOOD, "%s", text);
        cr_expect_eq(request.has_range, rows[i].has, "%s", text);
        if (request.has_range) {
            bool some = cm_http_range(&request, 100, &first, &length);
            cr_expect_eq(some, rows[i].some, "%s", text);
            cr_expect(!some || (first == rows[i].first && length == rows[i].length), "%s", text);
        }
    }
    cm_http_request request;
    cr_assert_eq(read_text("GET / HTTP/1.1\r\n" H "Range: bytes=0-\r\n\r\n", &request),
                 CM_HTTP_GOOD);
    uint64_t first, length;
    cr_expect_not(cm_http_range(&request, 0, &first, &length), "of nothing");
}

// Goal: an API's request is its head and a body of a length; two ends of one message are none.
// Method: a table, each row cut at every byte.
Test(http_head, bodies_and_methods_of_an_api)
{
#define POST "POST /api/v1/rooms?a=b HTTP/1.1\r\n" H
    static const struct {
        const char *text;
        cm_http_refusal found;
        cm_http_method method;
        const char *body;
    } rows[] = {
        {POST "Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
         CM_HTTP_GOOD, CM_HTTP_POST, "{}"},
        {POST "Content-Type: APPLICATION/json\r\nContent-Length: 0\r\n\r\n", CM_HTTP_GOOD,
         CM_HTTP_POST, ""},
        {"DELETE /api/v1/rooms/a HTTP/1.1\r\n" H "Content-Type: application/json\r\n\r\n",
         CM_HTTP_GOOD, CM_HTTP_DELETE, ""},
        {"OPTIONS /api/v1/rooms HTTP/1.1\r\n" H "Content-Type: application/json\r\n\r\n",
         CM_HTTP_GOOD, CM_HTTP_OPTIONS, ""},
        {POST "\r\n", CM_HTTP_LENGTH, 0, NULL},
        {POST "Content-Length: 2\r\n\r\n{}GET / HTTP/1.1", CM_HTTP_PIPELINED, 0, NULL},
        {POST "Content-Length: 4097\r\n\r\n", CM_HTTP_BODY, 0, NULL},
        {POST "Content-Length: 99999999999999999999\r\n\r\n", CM_HTTP_BODY, 0, NULL},
        {POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", CM_HTTP_MALFORMED, 0, NULL},
        {POST "Content-Length: 2, 2\r\n\r\n{}", CM_HTTP_MALFORMED, 0, NULL},
        {POST "Content-Length: +2\r\n\r\n{}", CM_HTTP_MALFORMED, 0, NULL},
        {POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", CM_HTTP_MALFORMED, 0,
         NULL},
        {POST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", CM_HTTP_BODY, 0, NULL},
        {POST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n", CM_HTTP_BODY, 0, NULL},
        {POST "Authorization: a\r\nAuthorization: a\r\n", CM_HTTP_MALFORMED, 0, NULL},
        {POST "Origin: a\r\nOrigin: b\r\n", CM_HTTP_MALFORMED, 0, NULL},
        {"POST /api/v1/rooms HTTP/1.1\r\nContent-Length: 1\r\n\r\n", CM_HTTP_HOST, 0, NULL},
        {"GET /api/v1/rooms HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}", CM_HTTP_BODY, 0, NULL},
        {"DELETE /api/v1/rooms/a HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}", CM_HTTP_BODY, 0,
         NULL},
        {"PUT /api/v1/rooms HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD, 0, NULL},
        {"post /api/v1/rooms HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD, 0, NULL},
        {"POST /api/v1 HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD, 0, NULL},
        {"POST /x/api/v1/rooms HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD, 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cm_http_request request;
        cr_expect_eq(read_text(rows[i].text, &request), rows[i].found, "%s", rows[i].text);
        if (rows[i].body != NULL) {
            cr_expect_eq(request.method, rows[i].method, "%s", rows[i].text);
            cr_expect_str_eq(rows[i].text + request.body_at, rows[i].body);
            cr_expect_eq(request.body_size, strlen(rows[i].body));
            cr_expect(request.is_json && request.is_api);
        }
        for (size_t size = 0; rows[i].body != NULL && size < strlen(rows[i].text); size++) {
            cr_expect_eq(cm_http_head_read(rows[i].text, size, &request), CM_HTTP_MORE,
                         "%zu bytes of %s", size, rows[i].text);
        }
    }
    cm_http_request request;
    cr_assert_eq(read_text(POST "Authorization: Bearer a\r\nOrigin: http://a\r\n"
                                "Content-Length: 0\r\n\r\n",
                           &request),
                 CM_HTTP_GOOD);
    cr_expect_str_eq(request.query, "a=b");
    cr_expect_str_eq(request.authorization, "Bearer a");
    cr_expect_str_eq(request.origin, "http://a");
    cr_expect_str_eq(request.host, "a");
    cr_expect_not(request.is_json);
}

Test(http_head, what_is_refused)
{
    static const struct {
        const char *text;
        cm_http_refusal refusal;
    } rows[] = {
        {"\x16\x03\x01\x02", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r" H "\r\n", CM_HTTP_MALFORMED},
        {"\r\nGET / HTTP/1.1\r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET  / HTTP/1.1\r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET /a b HTTP/1.1\r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET / \r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET /\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1 \r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET / http/1.1\r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET /\xc3\xa4 HTTP/1.1\r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n folded: a\r\n" H "\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H " folded\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n: a\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\nno colon\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\nX: \x01\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n\r\n", CM_HTTP_HOST},
        {"GET / HTTP/1.1\r\n" H H "\r\n", CM_HTTP_HOST},
        {"GET / HTTP/1.1\r\n" H "\r\nGET / HTTP/1.1\r\n" H "\r\n", CM_HTTP_PIPELINED},
        {"GET / HTTP/1.1\r\n" H "\r\nx", CM_HTTP_PIPELINED},
        {"POST / HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD},
        {"get / HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD},
        {"GETS / HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD},
        {"CONNECT a:1 HTTP/1.1\r\n" H "\r\n", CM_HTTP_METHOD},
        {"POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nContent-Length: 0\r\n\r\nhello",
         CM_HTTP_METHOD},
        {"POST / HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello", CM_HTTP_METHOD},
        {"GET / HTTP/1.1\r\n" H "Expect: 100-continue\r\n\r\n", CM_HTTP_BODY},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\n", CM_HTTP_BODY},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\nx", CM_HTTP_BODY},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
         CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
         CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 0, 0\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Content-Length: +1\r\n\r\nx", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 0x1\r\n\r\nx", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
         "0\r\n\r\n",
         CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
         CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Transfer-Encoding : chunked\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "Transfer-Encoding:\x0b"
         "chunked\r\n\r\n",
         CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\nHost: a\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "X: a\r\n\tfolded\r\n\r\n", CM_HTTP_MALFORMED},
        {"GET / HTTP/1.1\r\n" H "content-length: 00\r\n\r\n", CM_HTTP_BODY},
        {"GET / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n", CM_HTTP_BODY},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", CM_HTTP_VERSION},
        {"GET / HTTP/1.2\r\n" H "\r\n", CM_HTTP_VERSION},
        {"GET / HTTP/0.9\r\n" H "\r\n", CM_HTTP_VERSION},
        {"GET /" LONG64 LONG64 LONG64 LONG64 " HTTP/1.1\r\n" H "\r\n", CM_HTTP_TARGET},
        {"GET /" LONG64 LONG64 LONG64 LONG64 LONG64, CM_HTTP_TARGET},
    };
    bool seen[CM_HTTP_REFUSAL_COUNT] = {false};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cm_http_request request;
        cm_http_refusal found = read_text(rows[i].text, &request);
        cr_expect_eq(found, rows[i].refusal, "%s: %d, not %d", rows[i].text, (int)found,
                     (int)rows[i].refusal);
        seen[rows[i].refusal] = true;
    }
    for (uint32_t i = 0; i <= CM_HTTP_VERSION; i++) {
        bool elsewhere = i == CM_HTTP_PATH || i == CM_HTTP_SLOW || i == CM_HTTP_HEAD ||
                         i == CM_HTTP_LENGTH; // bodies_and_methods_of_an_api
        cr_expect(seen[i] || elsewhere, "%s", cm_http_refusal_text((cm_http_refusal)i));
        cr_expect_geq(cm_http_refusal_status((cm_http_refusal)i), 400);
    }
}

// The longest head passes, and no longer one; as many headers as there may be, and no more.
Test(http_head, its_limits)
{
    static char text[CM_HTTP_HEAD_MAX + 64];
    cm_http_request request;
    int at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" H "X: ");
    memset(text + at, 'x', sizeof text - (size_t)at);
    memcpy(text + CM_HTTP_HEAD_MAX - 4, "\r\n\r\n", 4);
    cr_expect_eq(cm_http_head_read(text, CM_HTTP_HEAD_MAX, &request), CM_HTTP_GOOD);
    text[CM_HTTP_HEAD_MAX - 4] = 'x';
    text[CM_HTTP_HEAD_MAX - 3] = 'x';
    cr_expect_eq(cm_http_head_read(text, CM_HTTP_HEAD_MAX, &request), CM_HTTP_HEAD);
    for (uint32_t headers = CM_HTTP_HEADERS_MAX; headers <= CM_HTTP_HEADERS_MAX + 1; headers++) {
        at = snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" H);
        for (uint32_t i = 1; i < headers; i++) {
            at += snprintf(text + at, sizeof text - (size_t)at, "a:\r\n");
        }
        snprintf(text + at, sizeof text - (size_t)at, "\r\n");
        cr_expect_eq(read_text(text, &request),
                     headers <= CM_HTTP_HEADERS_MAX ? CM_HTTP_GOOD : CM_HTTP_HEAD);
    }
}

// Of memory of just its size, so that the sanitizers see a read behind it.
Test(http_head, random_bytes_do_no_harm)
{
    static const char alphabet[] = "GET HEAD/1.0\r\n\r\n:Host: a\tz\x7f\x01";
    cm_rng rng;
    cm_rng_seed(&rng, 11);
    for (uint32_t i = 0; i < 20000; i++) {
        size_t size = cm_rng_below(&rng, 80) + 1;
        char *bytes = malloc(size);
        cm_http_request request;
        for (size_t at = 0; at < size; at++) {
            bytes[at] = alphabet[cm_rng_below(&rng, sizeof alphabet - 1)];
        }
        cm_http_refusal found = cm_http_head_read(bytes, size, &request);
        cr_expect_leq(found, CM_HTTP_MORE);
        cr_expect_leq(strlen(request.path), CM_HTTP_TARGET_MAX);
        free(bytes);
    }
}
