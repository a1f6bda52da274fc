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

const char *cm_http_refusal_name(cm_http_refusal refusal)
{
#define NAME(name, status, text) #name,
    static const char *const names[] = {CM_HTTP_REFUSALS(NAME)};
    return refusal < CM_HTTP_REFUSAL_COUNT ? names[refusal] : "";
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

static void take_text(char *to, size_t most, const char *text, size_t size)
{
    size = size < most ? size : most;
    memcpy(to, text, size);
    to[size] = '\0';
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

// False: none that is answered there.
static bool take_method(const char *text, size_t length, cm_http_request *request)
{
    static const char *const names[] = {
        [CM_HTTP_POST] = "POST", [CM_HTTP_DELETE] = "DELETE", [CM_HTTP_OPTIONS] = "OPTIONS"};
    request->method = CM_HTTP_GET;
    for (uint32_t i = CM_HTTP_POST; request->is_api && i <= CM_HTTP_OPTIONS; i++) {
        request->method = is_word(text, length, names[i]) ? (cm_http_method)i : request->method;
    }
    return request->method != CM_HTTP_GET || request->is_head || is_word(text, length, "GET");
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
    request->is_api =
        end - at >= strlen(CM_HTTP_API) && memcmp(text + at, CM_HTTP_API, strlen(CM_HTTP_API)) == 0;
    request->is_head = is_word(text, method, "HEAD");
    if (!take_method(text, method, request)) {
        return CM_HTTP_METHOD;
    }
    if (end - at > CM_HTTP_TARGET_MAX) {
        return CM_HTTP_TARGET;
    }
    *old = text[size - 1] == '0';
    const char *query = memchr(text + at, '?', end - at);
    size_t length = query != NULL ? (size_t)(query - text) - at : end - at;
    take_text(request->path, CM_HTTP_TARGET_MAX, text + at, length);
    if (query != NULL) {
        take_text(request->query, CM_HTTP_TARGET_MAX, query + 1, end - at - length - 1);
    }
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
    bool has_body; // or asks whether it may come
    uint64_t length;
    uint32_t keys, versions;
    bool to_websocket, connection_upgrades;
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

// A text that says who asks; one that is too long is nobody's.
static void take_who(char *to, const char *text, size_t size)
{
    take_text(to, CM_HTTP_WHO_MAX, size <= CM_HTTP_WHO_MAX ? text : "?",
              size <= CM_HTTP_WHO_MAX ? size : 1);
}

// application/json, with parameters or without.
static bool is_json(const char *text, size_t size)
{
    size_t end = 0;
    while (end < size && text[end] != ';' && text[end] != ' ') {
        end++;
    }
    return is_named(text, end, "application/json");
}

// Headers of which there is one, or none. False: another one.
static bool read_who(const char *line, size_t name, const char *text, size_t size,
                     cm_http_request *request)
{
    char *to = is_named(line, name, "Authorization") ? request->authorization
               : is_named(line, name, "Origin")      ? request->origin
                                                     : NULL;
    if (to != NULL) {
        bool first = to[0] == '\0';
        take_who(to, size > 0 ? text : "?", size > 0 ? size : 1);
        return first;
    }
    if (is_named(line, name, "Content-Type")) {
        request->is_json = is_json(text, size);
    }
    return true;
}

// True if a list with commas has the word.
static bool has_word(const char *text, size_t size, const char *word)
{
    for (size_t at = 0, end; at < size; at = end + 1) {
        end = at;
        while (end < size && text[end] != ',') {
            end++;
        }
        size_t first = at, last = end;
        while (first < last && (text[first] == ' ' || text[first] == '\t')) {
            first++;
        }
        while (last > first && (text[last - 1] == ' ' || text[last - 1] == '\t')) {
            last--;
        }
        if (is_named(text + first, last - first, word)) {
            return true;
        }
    }
    return false;
}

static void take_whole(char *to, size_t most, const char *text, size_t size)
{
    take_text(to, most, text, size <= most ? size : 0);
}

// Of the headers that upgrade to a WebSocket those that may come once (RFC 6455, 4.1).
static cm_http_refusal read_upgrade(const char *line, size_t name, const char *value, size_t size,
                                    cm_http_request *request, counts *seen)
{
    uint32_t times = 1;
    if (is_named(line, name, "Upgrade")) {
        seen->to_websocket = seen->to_websocket || has_word(value, size, "websocket");
    } else if (is_named(line, name, "Connection")) {
        seen->connection_upgrades = seen->connection_upgrades || has_word(value, size, "upgrade");
    } else if (is_named(line, name, "Sec-WebSocket-Key")) {
        take_whole(request->key, CM_HTTP_KEY_MAX, value, size);
        times = ++seen->keys;
    } else if (is_named(line, name, "Sec-WebSocket-Version")) {
        request->is_version13 = is_named(value, size, "13");
        times = ++seen->versions;
    } else if (is_named(line, name, "Sec-WebSocket-Protocol")) {
        take_whole(request->offer, CM_HTTP_OFFER_MAX, value, size);
    }
    request->upgrades = seen->to_websocket && seen->connection_upgrades;
    return times == 1 ? CM_HTTP_GOOD : CM_HTTP_MALFORMED;
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
        take_who(request->host, line + at, size - at);
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
        seen->has_body = true;
    } else if (is_named(line, name, "Content-Length")) {
        size_t digits = at;
        seen->lengths++;
        seen->length = take_number(line, size, &digits);
        // More digits than a number has, or needs.
        seen->has_body = seen->has_body || digits < size || (size - at > 1 && line[at] == '0');
        return is_number(line + at, size - at) ? CM_HTTP_GOOD : CM_HTTP_MALFORMED;
    }
    if (!read_who(line, name, line + at, size - at, request)) {
        return CM_HTTP_MALFORMED;
    }
    return read_upgrade(line, name, line + at, size - at, request, seen);
}

// Two programs that see two ends of one message are how requests are smuggled (RFC 9112, 11.2).
static cm_http_refusal judge(const counts *seen, bool old, size_t more_bytes,
                             cm_http_request *request)
{
    bool posts = request->method == CM_HTTP_POST;
    if (seen->lengths + seen->codings > 1) {
        return CM_HTTP_MALFORMED;
    }
    if (seen->has_body || seen->length > (posts ? CM_HTTP_BODY_MAX : 0)) {
        return CM_HTTP_BODY;
    }
    if (posts && seen->lengths == 0) {
        return CM_HTTP_LENGTH;
    }
    if (more_bytes > seen->length) {
        return CM_HTTP_PIPELINED;
    }
    request->body_size = (size_t)seen->length;
    if (seen->hosts == 0 && !old) {
        return CM_HTTP_HOST;
    }
    return more_bytes < seen->length ? CM_HTTP_MORE : CM_HTTP_GOOD;
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
        if (at > CM_HTTP_HEAD_MAX) {
            return CM_HTTP_HEAD;
        }
        if (length == 0 && lines > 0) {
            request->body_at = at;
            return judge(&seen, old, size - at, request);
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
