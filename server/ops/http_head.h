// The head of an HTTP/1 request, checked once on receipt: requests that this server does not answer
// are refused, with a reason. Pure.
//
// Read are GET and HEAD of HTTP/1.0 and 1.1, without a body, one on a connection. Of the headers
// Host tells who is asked, and of a file that is cached If-None-Match, Range and If-Range what of
// it is wanted.
#ifndef CM_SERVER_OPS_HTTP_HEAD_H
#define CM_SERVER_OPS_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_HTTP_HEAD_MAX    4096u // bytes of a request line and headers, with their empty line
#define CM_HTTP_TARGET_MAX  256u  // bytes of what is asked for, its query too
#define CM_HTTP_HEADERS_MAX 64u
#define CM_HTTP_TAGS_MAX    128u // bytes of If-None-Match; a longer one matches nothing
#define CM_HTTP_ETAG_MAX    36u  // bytes of an entity tag of ours, its NUL included

// Name, status, text: why a request, or a connection, is refused.
#define CM_HTTP_REFUSALS(X)                                                                        \
    X(MALFORMED, 400, "not a request of HTTP/1")                                                   \
    X(HOST, 400, "expected one Host header")                                                       \
    X(PIPELINED, 400, "more bytes than one request, a connection has one")                         \
    X(METHOD, 405, "expected GET or HEAD")                                                         \
    X(PATH, 404, "there is nothing of that name")                                                  \
    X(SLOW, 408, "the request took too long to come")                                              \
    X(BODY, 413, "a request with a body")                                                          \
    X(TARGET, 414, "the name asked for is too long")                                               \
    X(HEAD, 431, "the headers are too long, or too many")                                          \
    X(VERSION, 505, "expected HTTP/1.0 or HTTP/1.1")                                               \
    X(BUSY, 503, "as many connections as are served")                                              \
    X(LATE, 503, "the answer took too long to make")                                               \
    X(UNREAD, 0, "the answer was not read in time")

typedef enum cm_http_refusal {
#define CM_HTTP_REFUSAL_ENUM(name, status, text) CM_HTTP_##name,
    CM_HTTP_REFUSALS(CM_HTTP_REFUSAL_ENUM)
#undef CM_HTTP_REFUSAL_ENUM
        CM_HTTP_REFUSAL_COUNT,
    CM_HTTP_GOOD = CM_HTTP_REFUSAL_COUNT,
    CM_HTTP_MORE, // the head has not come whole yet
} cm_http_refusal;

uint32_t cm_http_refusal_status(cm_http_refusal refusal);
const char *cm_http_refusal_text(cm_http_refusal refusal);

typedef struct cm_http_request {
    char path[CM_HTTP_TARGET_MAX + 1];        // without its query
    bool is_head;                             // HEAD: the answer has no body
    bool by_own_name;                         // Host is 127.x.x.x, localhost or [::1]
    char if_none_match[CM_HTTP_TAGS_MAX + 1]; // "": there is none
    char if_range[CM_HTTP_ETAG_MAX + 1];      // likewise; one that is longer is cut
    // One range of bytes. Several, and what is none, count as no Range (RFC 9110, 14.2).
    bool has_range, from_end;         // from_end: the last `range_last` bytes
    uint64_t range_first, range_last; // UINT64_MAX: to the end
} cm_http_request;

// The part of `size` bytes that is asked for. False: none of them.
bool cm_http_range(const cm_http_request *request, uint64_t size, uint64_t *first,
                   uint64_t *length);

// All bytes that came so far.
cm_http_refusal cm_http_head_read(const char *bytes, size_t size, cm_http_request *request);

#endif
