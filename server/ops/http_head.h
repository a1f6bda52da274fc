// The head of an HTTP/1 request, checked once on receipt: requests that this server does not answer
// are refused, with a reason. Pure.
//
// Read are GET and HEAD of HTTP/1.0 and 1.1, without a body, one on a connection; below /api/v1/
// also POST, with a body of a Content-Length, DELETE and OPTIONS, without. Of the headers Host
// tells who is asked, Authorization and Origin who asks, of a file that is cached If-None-Match,
// Range and If-Range what of it is wanted, and Upgrade with what belongs to it that a WebSocket is.
#ifndef CM_SERVER_OPS_HTTP_HEAD_H
#define CM_SERVER_OPS_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_HTTP_HEAD_MAX    4096u // bytes of a request line and headers, with their empty line
#define CM_HTTP_TARGET_MAX  256u  // bytes of what is asked for, its query too
#define CM_HTTP_HEADERS_MAX 64u
#define CM_HTTP_BODY_MAX    4096u // bytes of a request's body
#define CM_HTTP_BYTES_MAX   (CM_HTTP_HEAD_MAX + CM_HTTP_BODY_MAX)
#define CM_HTTP_WHO_MAX     160u // bytes of Authorization, of Origin; a longer one is nobody's
#define CM_HTTP_API         "/api/v1/"
#define CM_HTTP_API_METHODS "GET, HEAD, POST, DELETE, OPTIONS"
#define CM_HTTP_TAGS_MAX    128u // bytes of If-None-Match; a longer one matches nothing
#define CM_HTTP_OFFER_MAX   128u // bytes of Sec-WebSocket-Protocol; a longer one offers nothing
#define CM_HTTP_KEY_MAX     24u  // bytes of Sec-WebSocket-Key
#define CM_HTTP_ETAG_MAX    36u  // bytes of an entity tag of ours, its NUL included

// Name, status, text: why a request, or a connection, is refused.
#define CM_HTTP_REFUSALS(X)                                                                        \
    X(MALFORMED, 400, "not a request of HTTP/1")                                                   \
    X(HOST, 400, "expected one Host header")                                                       \
    X(PIPELINED, 400, "more bytes than one request, a connection has one")                         \
    X(METHOD, 405, "a method that is not answered here")                                           \
    X(PATH, 404, "there is nothing of that name")                                                  \
    X(SLOW, 408, "the request took too long to come")                                              \
    X(LENGTH, 411, "expected a Content-Length")                                                    \
    X(BODY, 413, "a request with a body, or one that is too long")                                 \
    X(TARGET, 414, "the name asked for is too long")                                               \
    X(HEAD, 431, "the headers are too long, or too many")                                          \
    X(VERSION, 505, "expected HTTP/1.0 or HTTP/1.1")                                               \
    X(BUSY, 503, "as many connections as are served")                                              \
    X(LATE, 503, "the answer took too long to make")                                               \
    X(UNREAD, 0, "the answer was not read in time")                                                \
    X(KEY, 401, "expected the Bearer key of an operator")                                          \
    X(SCOPE, 403, "the key is not for this")                                                       \
    X(ORIGIN, 403, "pages of another origin may not ask for this")                                 \
    X(RATE, 429, "too many wrong keys from this address")                                          \
    X(UPGRADE, 400, "not what a WebSocket begins with")                                            \
    X(OFFER, 426, "expected WebSocket version 13 and the subprotocol that is spoken here")         \
    X(AWAY, 503, "the worker of that room is away for a moment")

typedef enum cm_http_refusal {
#define CM_HTTP_REFUSAL_ENUM(name, status, text) CM_HTTP_##name,
    CM_HTTP_REFUSALS(CM_HTTP_REFUSAL_ENUM)
#undef CM_HTTP_REFUSAL_ENUM
        CM_HTTP_REFUSAL_COUNT,
    CM_HTTP_GOOD = CM_HTTP_REFUSAL_COUNT,
    CM_HTTP_MORE, // the head has not come whole yet
} cm_http_refusal;

uint32_t cm_http_refusal_status(cm_http_refusal refusal);
const char *cm_http_refusal_name(cm_http_refusal refusal); // MALFORMED
const char *cm_http_refusal_text(cm_http_refusal refusal);

typedef enum cm_http_method {
    CM_HTTP_GET, // and HEAD
    CM_HTTP_POST,
    CM_HTTP_DELETE,
    CM_HTTP_OPTIONS,
} cm_http_method;

typedef struct cm_http_request {
    cm_http_method method;
    char path[CM_HTTP_TARGET_MAX + 1];       // without its query
    char query[CM_HTTP_TARGET_MAX + 1];      // behind the '?'; "": none
    bool is_api;                             // the path begins with CM_HTTP_API
    bool is_head;                            // HEAD: the answer has no body
    bool is_json;                            // Content-Type
    size_t body_at, body_size;               // in the bytes of the request
    char authorization[CM_HTTP_WHO_MAX + 1]; // "": there is none
    char origin[CM_HTTP_WHO_MAX + 1];        // likewise
    char host[CM_HTTP_WHO_MAX + 1];
    bool by_own_name;                         // Host is 127.x.x.x, localhost or [::1]
    char if_none_match[CM_HTTP_TAGS_MAX + 1]; // "": there is none
    char if_range[CM_HTTP_ETAG_MAX + 1];      // likewise; one that is longer is cut
    // One range of bytes. Several, and what is none, count as no Range (RFC 9110, 14.2).
    bool has_range, from_end;         // from_end: the last `range_last` bytes
    uint64_t range_first, range_last; // UINT64_MAX: to the end
    // Of an upgrade to a WebSocket; texts that are too long are "".
    bool upgrades;     // both headers that ask for it were there
    bool is_version13; // of WebSocket
    char offer[CM_HTTP_OFFER_MAX + 1], key[CM_HTTP_KEY_MAX + 1];
} cm_http_request;

// The part of `size` bytes that is asked for. False: none of them.
bool cm_http_range(const cm_http_request *request, uint64_t size, uint64_t *first,
                   uint64_t *length);

// All bytes that came so far, at most CM_HTTP_BYTES_MAX. MORE, too, while the body is not whole.
cm_http_refusal cm_http_head_read(const char *bytes, size_t size, cm_http_request *request);

#endif
