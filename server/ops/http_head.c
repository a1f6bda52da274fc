// Lines end with CR LF and nothing else, names are tokens, folded lines are refused (RFC 9112):
// what two programs could read in two ways is read by none here.
#include "server/ops/http_head.h"

#include <string.h>
#include <strings.h>

#define LINE_MORE 16u // of a request line: the method, two blanks and the version

uint32_t cm_http_refusal_status(cm_http_refusal refusal)
{
#define STATUS(name, status, text) status,
    static const uint32_t statuses[] = {CM_HTTP_REFUSALS(STATUS)};
    return refusal < CM_HTTP_REFUSAL_COUNT ? statuses[refusal] : 0;
}

const char *cm_http_refusal_text(cm_http_refusal refusal)
{
#define TEXT(name, status, text) text,
    static const char *const texts[] = {CM_HTTP_REFUSALS(TEXT)};
    return refusal < CM_HTTP_REFUSAL_COUNT ? texts[refusal] : "";
}

static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static size_t token_length(const char *text, size_t size)
{
    size_t length = 0;
    while (length < size && is_token(text[length])) {
        length++;
    }
    return length;
}

// Bytes of the line at `text` without its end; `size` where its end is not there. False: it holds
// what no line does.
static bool find_line(const char *text, size_t size, size_t *length)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\r') {
            *length = i + 1 < size ? i : size;
            return i + 1 >= size || text[i + 1] == '\n';
        }
        if ((c < 32 && c != '\t') || c == 127) {
            return false;
        }
    }
    *length = size;
    return true;
}

static cm_http_refusal read_version(const char *text, size_t size)
{
    if (size != 8 || memcmp(text, "HTTP/", 5) != 0 || text[6] != '.' || text[5] < '0' ||
        text[5] > '9' || text[7] < '0' || text[7] > '9') {
        return CM_HTTP_MALFORMED;
    }
    return text[5] == '1' && text[7] <= '1' ? CM_HTTP_GOOD : CM_HTTP_VERSION;
}

// METHOD target HTTP/1.x; `old`: of HTTP/1.0.
static cm_http_refusal read_request_line(const char *text, size_t size, cm_http_request *request,
                                         bool *old)
{
    size_t method = token_length(text, size), at = method + 1;
    size_t end = at;
    while (end < size && (unsigned char)text[end] > 32 && (unsigned char)text[end] < 127) {
        end++;
    }
    if (method == 0 || at >= size || text[method] != ' ' || end == at || end + 1 >= size ||
        text[end] != ' ') {
        return CM_HTTP_MALFORMED;
    }
    cm_http_refusal version = read_version(text + end + 1, size - end - 1);
    if (version != CM_HTTP_GOOD) {
        return version;
    }
    request->is_head = method == 4 && memcmp(text, "HEAD", 4) == 0;
    if (!request->is_head && !(method == 3 && memcmp(text, "GET", 3) == 0)) {
        return CM_HTTP_METHOD;
    }
    if (end - at > CM_HTTP_TARGET_MAX) {
        return CM_HTTP_TARGET;
    }
    *old = text[size - 1] == '0';
    const char *query = memchr(text + at, '?', end - at);
    size_t length = query != NULL ? (size_t)(query - text) - at : end - at;
    memcpy(request->path, text + at, length);
    request->path[length] = '\0';
    return CM_HTTP_GOOD;
}

static bool is_named(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(text, name, length) == 0;
}

// HOST or HOST:PORT.
static bool is_own_name(const char *host, size_t size)
{
    size_t length = size;
    while (length > 0 && host[length - 1] >= '0' && host[length - 1] <= '9') {
        length--;
    }
    size = length > 0 && host[length - 1] == ':' ? length - 1 : size;
    bool numbers = size > 4 && memcmp(host, "127.", 4) == 0;
    for (size_t i = 0; numbers && i < size; i++) {
        numbers = host[i] == '.' || (host[i] >= '0' && host[i] <= '9');
    }
    return numbers || is_named(host, size, "localhost") || is_named(host, size, "[::1]");
}

// Of the headers that say where a message ends, and of Host.
typedef struct counts {
    uint32_t hosts, lengths, codings;
    bool has_body;
} counts;

// RFC 9110, 8.6: digits and nothing else.
static bool is_number(const char *text, size_t size)
{
    size_t digits = 0;
    while (digits < size && text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    return size > 0 && digits == size;
}

static uint64_t take_number(const char *text, size_t size, size_t *at)
{
    uint64_t number = 0;
    size_t first = *at;
    while (*at < size && text[*at] >= '0' && text[*at] <= '9' && *at - first < 18) {
        number = number * 10 + (uint64_t)(text[(*at)++] - '0');
    }
    return number;
}

// bytes=FIRST-LAST, bytes=FIRST- or bytes=-COUNT.
static void read_range(const char *text, size_t size, cm_http_request *request)
{
    size_t at = 6;
    if (request->has_range || size < 8 || strncasecmp(text, "bytes=", 6) != 0) {
        request->has_range = false;
        return;
    }
    size_t digits = at;
    request->range_first = take_number(text, size, &at);
    request->from_end = at == digits;
    if (at >= size || text[at++] != '-') {
        return;
    }
    digits = at;
    request->range_last = take_number(text, size, &at);
    bool open = at == digits;
    request->has_range = at == size && !(open && request->from_end) &&
                         (open || request->from_end || request->range_last >= request->range_first);
    request->range_last = open ? UINT64_MAX : request->range_last;
}

bool cm_http_range(const cm_http_request *request, uint64_t size, uint64_t *first, uint64_t *length)
{
    uint64_t last = request->range_last;
    if (request->from_end) {
        *length = last < size ? last : size;
        *first = size - *length;
        return *length > 0;
    }
    last = last < size ? last : size - 1;
    *first = request->range_first;
    *length = last - *first + 1;
    return *first < size;
}

static void take_text(char *to, size_t most, const char *text, size_t size)
{
    size = size < most ? size : most;
    memcpy(to, text, size);
    to[size] = '\0';
}

static cm_http_refusal read_header(const char *line, size_t size, cm_http_request *request,
                                   counts *seen)
{
    size_t name = token_length(line, size), at = name + 1;
    if (name == 0 || name >= size || line[name] != ':') {
        return CM_HTTP_MALFORMED;
    }
    while (at < size && (line[at] == ' ' || line[at] == '\t')) {
        at++;
    }
    while (size > at && (line[size - 1] == ' ' || line[size - 1] == '\t')) {
        size--;
    }
    if (is_named(line, name, "Host")) {
        request->by_own_name = is_own_name(line + at, size - at);
        return ++seen->hosts == 1 ? CM_HTTP_GOOD : CM_HTTP_HOST;
    }
    if (is_named(line, name, "Range")) {
        read_range(line + at, size - at, request);
    } else if (is_named(line, name, "If-Range")) {
        take_text(request->if_range, CM_HTTP_ETAG_MAX, line + at, size - at);
    } else if (is_named(line, name, "If-None-Match")) {
        size_t whole = size - at <= CM_HTTP_TAGS_MAX ? size - at : 0;
        take_text(request->if_none_match, CM_HTTP_TAGS_MAX, line + at, whole);
    } else if (is_named(line, name, "Transfer-Encoding")) {
        seen->codings++;
        seen->has_body = true;
    } else if (is_named(line, name, "Expect")) {
        seen->has_body = true; // it asks whether its body may come
    } else if (is_named(line, name, "Content-Length")) {
        seen->lengths++;
        seen->has_body = seen->has_body || !is_named(line + at, size - at, "0");
        return is_number(line + at, size - at) ? CM_HTTP_GOOD : CM_HTTP_MALFORMED;
    }
    return CM_HTTP_GOOD;
}

// Two programs that see two ends of one message are how requests are smuggled (RFC 9112, 11.2).
static cm_http_refusal judge(const counts *seen, bool old, bool more_bytes)
{
    if (seen->lengths + seen->codings > 1) {
        return CM_HTTP_MALFORMED;
    }
    if (seen->has_body) {
        return CM_HTTP_BODY;
    }
    if (more_bytes) {
        return CM_HTTP_PIPELINED;
    }
    return seen->hosts == 0 && !old ? CM_HTTP_HOST : CM_HTTP_GOOD;
}

cm_http_refusal cm_http_head_read(const char *bytes, size_t size, cm_http_request *request)
{
    size_t at = 0, length;
    uint32_t lines = 0;
    counts seen = {0};
    bool old = false;
    memset(request, 0, sizeof *request);
    while (at < size) {
        const char *line = bytes + at;
        if (!find_line(line, size - at, &length)) {
            return CM_HTTP_MALFORMED;
        }
        if (length == size - at) { // its end has not come
            bool long_target = lines == 0 && length > CM_HTTP_TARGET_MAX + LINE_MORE;
            bool full = size >= CM_HTTP_HEAD_MAX;
            return long_target ? CM_HTTP_TARGET : full ? CM_HTTP_HEAD : CM_HTTP_MORE;
        }
        at += length + 2;
        if (length == 0 && lines > 0) {
            return judge(&seen, old, at < size);
        }
        cm_http_refusal found = lines == 0 ? read_request_line(line, length, request, &old)
                                           : read_header(line, length, request, &seen);
        if (found != CM_HTTP_GOOD) {
            return found;
        }
        if (lines++ > CM_HTTP_HEADERS_MAX) {
            return CM_HTTP_HEAD;
        }
    }
    return size >= CM_HTTP_HEAD_MAX ? CM_HTTP_HEAD : CM_HTTP_MORE;
}
