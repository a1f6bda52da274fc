// The listener, its connections, and the state of each. See http.h.
#include "server/ops/http.h"

#if CM_WITH_http

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/transport/socket_address.h"

#define EVENTS        64u   // taken from epoll in a turn
#define LINGER_BYTES  4096u // thrown away in a turn
#define HEAD_BYTES    768u  // of a refusal, with its text
#define REFUSAL_BYTES 192u  // of that
// A connection that gave its place away is closed by the library at the end of the turn.
#define PLACES (CM_HTTP_CONNECTIONS_MAX + CM_HTTP_TURN_ACCEPTS)
// A browser takes from here alone what a page of ours needs, whatever got into it. WebAssembly is
// compiled by scripts of ours, for which no eval of texts has to be allowed.
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "                 \
    "connect-src 'self'; "                                                                         \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

typedef enum state {
    FREE,
    READING,
    LINGERING,
    // The library has the socket.
    GIVEN,   // and reads the head, which is good
    WAITING, // for its page, suspended
    WRITING,
    CLOSING, // its place belongs to another connection
} state;

typedef struct connection {
    cm_http *http;
    state state;
    int descriptor;
    uint64_t since_us; // of the state
    bool hung_up;      // the other end sends no more
    cm_http_request request;
    uint64_t number, network; // as in cm_http_asker
    char body[CM_HTTP_BODY_MAX + 1];
    struct MHD_Connection *library; // NULL before GIVEN
    uint32_t status;                // of the answer
    const char *type;
    const char *cache, *encoding; // as in cm_http_answer
    char etag[CM_HTTP_ETAG_MAX];
    const char *allow, *origin; // likewise
    cm_page *page;              // NULL: there is none yet
    uint64_t first, length;     // what of it is sent
} connection;

struct cm_http {
    cm_http_def def;
    int listener, events;
    uint64_t now_us;
    uint32_t first;    // connection whose turn comes first
    uint32_t pages;    // left of this turn
    uint64_t requests; // that were good, ever
    struct MHD_Daemon *daemon;
    connection *giving; // whose socket the library is being given
    cm_http_stats stats;
    connection connections[PLACES];
};

static void enter(cm_http *http, connection *c, state to)
{
    c->state = to;
    c->since_us = http->now_us;
}

static void leave(cm_http *http, connection *c)
{
    http->stats.connections -= c->state != CLOSING;
    cm_page_drop(c->page);
    *c = (connection){.http = http, .state = FREE};
}

// READING or LINGERING.
static void drop(cm_http *http, connection *c)
{
    (void)epoll_ctl(http->events, EPOLL_CTL_DEL, c->descriptor, NULL);
    close(c->descriptor);
    leave(http, c);
}

// GIVEN, WAITING or WRITING: the library sees that the socket is at its end, and closes it.
static void end(cm_http *http, connection *c)
{
    (void)shutdown(c->descriptor, SHUT_RDWR);
    if (c->state == WAITING) {
        MHD_resume_connection(c->library);
    }
    http->stats.connections--;
    enter(http, c, CLOSING);
}

// Answers --------------------------------------------------------------------------------------

// The text of a refusal, by an API in JSON.
static void write_refusal(cm_http_refusal refusal, bool is_api, char text[REFUSAL_BYTES])
{
    char name[32];
    const char *said = cm_http_refusal_text(refusal);
    snprintf(name, sizeof name, "%s", cm_http_refusal_name(refusal));
    for (char *c = name; *c != '\0'; c++) {
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 32) : *c;
    }
    if (is_api) {
        snprintf(text, REFUSAL_BYTES, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n", name,
                 said);
    } else {
        snprintf(text, REFUSAL_BYTES, "%s\n", said);
    }
}

static const char *type_of_refusal(bool is_api)
{
    return is_api ? "application/json" : "text/plain; charset=utf-8";
}

static size_t put_refusal(char *bytes, size_t size, cm_http_refusal refusal,
                          const cm_http_request *request)
{
    static const char *const names[] = {[400] = "Bad Request",
                                        [403] = "Forbidden",
                                        [404] = "Not Found",
                                        [405] = "Method Not Allowed",
                                        [408] = "Request Timeout",
                                        [411] = "Length Required",
                                        [413] = "Content Too Large",
                                        [414] = "URI Too Long",
                                        [426] = "Upgrade Required",
                                        [503] = "Service Unavailable",
                                        [431] = "Request Header Fields Too Large",
                                        [505] = "HTTP Version Not Supported"};
    char text[REFUSAL_BYTES], allow[64] = "";
    uint32_t status = cm_http_refusal_status(refusal);
    write_refusal(refusal, request->is_api, text);
    if (status == 405) {
        snprintf(allow, sizeof allow, "Allow: %s\r\n",
                 request->is_api ? CM_HTTP_API_METHODS : "GET, HEAD");
    } else if (status == 426) {
        snprintf(allow, sizeof allow, "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    }
    return (size_t)snprintf(bytes, size,
                            "HTTP/1.1 %u %s\r\n%sContent-Type: %s\r\n"
                            "Content-Length: %zu\r\nCache-Control: no-store\r\n"
                            "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n%s",
                            (unsigned)status, names[status], allow,
                            type_of_refusal(request->is_api), strlen(text),
                            request->is_head ? "" : text);
}

// Sends a refusal on a connection that the library does not have. It is small enough for the kernel
// to take it whole.
static void send_refusal(cm_http *http, int descriptor, cm_http_refusal refusal,
                         const cm_http_request *request)
{
    char bytes[HEAD_BYTES];
    size_t size = put_refusal(bytes, sizeof bytes, refusal, request);
    ssize_t sent = send(descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    http->stats.sent_bytes += sent > 0 ? (size_t)sent : 0;
    http->stats.refused[refusal]++;
}

// Unread bytes at the close would make the kernel discard the answer, so they are read first.
static void refuse(cm_http *http, connection *c, cm_http_refusal refusal)
{
    char bytes[CM_HTTP_BYTES_MAX];
    (void)!recv(c->descriptor, bytes, sizeof bytes, 0); // those that were looked at
    send_refusal(http, c->descriptor, refusal, &c->request);
    (void)shutdown(c->descriptor, SHUT_WR);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    (void)epoll_ctl(http->events, EPOLL_CTL_MOD, c->descriptor, &event);
    enter(http, c, LINGERING);
}

// Of a page with an entity tag the part that is wanted: nothing of one that the other end has.
static void choose_part(connection *c)
{
    const cm_http_request *request = &c->request;
    const char *tags = request->if_none_match;
    if (strcmp(tags, "*") == 0 || strstr(tags, c->etag) != NULL) {
        c->status = MHD_HTTP_NOT_MODIFIED;
        c->length = 0;
    } else if (request->has_range &&
               (request->if_range[0] == '\0' || strcmp(request->if_range, c->etag) == 0)) {
        bool some = cm_http_range(request, c->page->size, &c->first, &c->length);
        c->status = some ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_RANGE_NOT_SATISFIABLE;
        c->length = some ? c->length : 0;
    }
}

static void set_answer(connection *c, const cm_http_answer *answer)
{
    c->status = answer->status;
    c->type = answer->type;
    c->page = answer->page;
    c->cache = answer->cache;
    c->allow = answer->allow;
    c->origin = answer->origin;
    c->encoding = answer->encoding;
    memcpy(c->etag, answer->etag, sizeof c->etag);
    c->first = 0;
    c->length = c->page->size;
    if (c->etag[0] != '\0' && c->status == MHD_HTTP_OK) {
        choose_part(c);
    }
}

// As an answer of the library. Without memory for its text: none yet.
static void set_refusal(cm_http *http, connection *c, cm_http_refusal refusal)
{
    char text[REFUSAL_BYTES];
    cm_http_answer answer = {.status = cm_http_refusal_status(refusal),
                             .type = type_of_refusal(c->request.is_api),
                             .page = cm_page_create()};
    if (answer.page != NULL) {
        write_refusal(refusal, c->request.is_api, text);
        cm_page_text(answer.page, text);
        http->stats.refused[refusal]++;
        set_answer(c, &answer);
    }
}

// The page, if it is made and this turn makes one more.
static void look_for_page(cm_http *http, connection *c)
{
    cm_http_answer found = {.status = 200, .refusal = CM_HTTP_GOOD};
    const cm_http_asker asker = {c->number, c->network, c->body};
    if (http->pages == 0) {
        return;
    }
    switch (http->def.get(http->def.user, &c->request, &asker, &found)) {
    case CM_HTTP_NOT_THERE:
        http->pages--;
        set_refusal(http, c, CM_HTTP_PATH);
        break;
    case CM_HTTP_LATER:
        break;
    case CM_HTTP_ANSWERED:
        http->pages--;
        http->stats.answered++;
        http->stats.failed += found.status >= 500;
        if (found.refusal < CM_HTTP_REFUSAL_COUNT) {
            http->stats.refused[found.refusal]++;
        }
        set_answer(c, &found);
        break;
    }
}

// The library's calls --------------------------------------------------------------------------

static void on_connection(void *user, struct MHD_Connection *library, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    cm_http *http = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = http->giving;
        http->giving->library = library;
        return;
    }
    connection *c = *context;
    // The library refused a head that our own parser accepted: counted as malformed; only the
    // library answers.
    http->stats.refused[CM_HTTP_MALFORMED] += c->state == GIVEN;
    leave(http, c);
}

static ssize_t on_part(void *user, uint64_t at, char *bytes, size_t size)
{
    connection *c = user;
    const cm_page *page = c->page;
    size_t left = at < c->length ? (size_t)(c->length - at) : 0;
    size_t taken = left < size ? left : size;
    memcpy(bytes, page->text + c->first + at, taken);
    c->http->stats.sent_bytes += taken;
    return taken > 0 ? (ssize_t)taken : MHD_CONTENT_READER_END_OF_STREAM;
}

// Every answer is the last one of its connection, and but for one with an entity tag must not be
// cached.
static enum MHD_Result put_headers(struct MHD_Response *response, const connection *c)
{
    char range[80] = "";
    unsigned long long first = c->first, size = c->page->size;
    bool tagged = c->etag[0] != '\0';
    if (c->status == MHD_HTTP_PARTIAL_CONTENT) {
        snprintf(range, sizeof range, "bytes %llu-%llu/%llu", first, first + c->length - 1, size);
    } else if (c->status == MHD_HTTP_RANGE_NOT_SATISFIABLE) {
        snprintf(range, sizeof range, "bytes */%llu", size);
    }
    const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CONTENT_TYPE, c->type},
        {MHD_HTTP_HEADER_CACHE_CONTROL, c->cache != NULL ? c->cache : "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy", POLICY},
        {MHD_HTTP_HEADER_CONNECTION, "close"},
        {MHD_HTTP_HEADER_CONTENT_ENCODING, c->encoding},
        {MHD_HTTP_HEADER_ETAG, tagged ? c->etag : NULL},
        {MHD_HTTP_HEADER_ACCEPT_RANGES, tagged ? "bytes" : NULL},
        {MHD_HTTP_HEADER_CONTENT_RANGE, range[0] != '\0' ? range : NULL},
        {MHD_HTTP_HEADER_ALLOW, c->allow},
        {MHD_HTTP_HEADER_WWW_AUTHENTICATE, c->status == 401 ? "Bearer" : NULL},
        {MHD_HTTP_HEADER_VARY, c->request.is_api ? "Origin" : NULL},
        {"Access-Control-Allow-Origin", c->origin},
        {"Access-Control-Allow-Methods", c->origin != NULL ? c->allow : NULL},
        {"Access-Control-Allow-Headers",
         c->origin != NULL && c->allow != NULL ? "Authorization, Content-Type" : NULL}};
    enum MHD_Result good = MHD_YES;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0] && good == MHD_YES; i++) {
        good = headers[i][1] == NULL
                   ? MHD_YES
                   : MHD_add_response_header(response, headers[i][0], headers[i][1]);
    }
    return good;
}

static enum MHD_Result begin_writing(cm_http *http, connection *c)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(c->length, CM_HTTP_PART_BYTES, on_part, c, NULL);
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result good = put_headers(response, c);
    good = good == MHD_YES ? MHD_queue_response(c->library, c->status, response) : good;
    MHD_destroy_response(response); // the connection holds it
    enter(http, c, WRITING);
    return good;
}

// Called at the end of the head, for parts of a body, which was looked at already, once more behind
// that, and again when it is resumed. MHD_NO closes the connection.
static enum MHD_Result on_request(void *user, struct MHD_Connection *library, const char *url,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_size, void **again)
{
    cm_http *http = user;
    connection *c =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    (void)url, (void)method, (void)version, (void)body;
    if (*again == NULL || *body_size > 0) {
        *again = c;
        *body_size = 0;
        return MHD_YES;
    }
    if (c->state == GIVEN) {
        enter(http, c, WAITING);
        look_for_page(http, c);
    }
    if (c->state == CLOSING) {
        return MHD_NO;
    }
    if (c->page == NULL) {
        MHD_suspend_connection(library);
        return MHD_YES;
    }
    return begin_writing(http, c);
}

// Making ---------------------------------------------------------------------------------------

static int listen_at(cm_address *address)
{
    struct sockaddr_storage at;
    socklen_t size = cm_socket_address_write(address, &at);
    int one = 1, listener = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = listener >= 0 &&
                setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                bind(listener, (struct sockaddr *)&at, size) == 0 &&
                listen(listener, CM_HTTP_CONNECTIONS_MAX) == 0 &&
                getsockname(listener, (struct sockaddr *)&at, &size) == 0;
    int cause = errno;
    if (!good && listener >= 0) {
        close(listener);
        listener = -1;
    }
    (void)cm_socket_address_read(&at, address);
    errno = cause;
    return listener;
}

// False: the reason is in errno.
static bool open_all(cm_http *http)
{
    struct epoll_event event = {.events = EPOLLIN};
    http->listener = listen_at(&http->def.address);
    http->events = http->listener >= 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
    if (http->events < 0 || epoll_ctl(http->events, EPOLL_CTL_ADD, http->listener, &event) != 0) {
        return false;
    }
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, http, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)PLACES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    const union MHD_DaemonInfo *inner =
        http->daemon != NULL ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    return inner != NULL && epoll_ctl(http->events, EPOLL_CTL_ADD, inner->epoll_fd, &event) == 0;
}

cm_http *cm_http_create(const cm_http_def *def, char *error, size_t error_size)
{
    cm_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    http->def = *def;
    http->listener = http->events = -1;
    for (uint32_t i = 0; i < PLACES; i++) {
        http->connections[i].http = http;
    }
    if (!open_all(http)) {
        char address[CM_ADDRESS_TEXT_MAX];
        int cause = errno;
        cm_address_write(&def->address, address);
        snprintf(error, error_size, "%s: %s", address, strerror(cause));
        cm_http_destroy(http);
        return NULL;
    }
    return http;
}

void cm_http_destroy(cm_http *http)
{
    if (http == NULL) {
        return;
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        connection *c = &http->connections[i];
        if (c->state == WAITING) {
            MHD_resume_connection(c->library); // the library ends none that is suspended
        } else if (c->state == READING || c->state == LINGERING) {
            drop(http, c);
        }
    }
    if (http->daemon != NULL) {
        MHD_stop_daemon(http->daemon);
    }
    if (http->events >= 0) {
        close(http->events);
    }
    if (http->listener >= 0) {
        close(http->listener);
    }
    free(http);
}

uint16_t cm_http_port(const cm_http *http)
{
    return http->def.address.port;
}

int cm_http_descriptor(const cm_http *http)
{
    return http != NULL ? http->events : -1;
}

void cm_http_stats_get(const cm_http *http, cm_http_stats *stats)
{
    *stats = http->stats;
}

// A turn ---------------------------------------------------------------------------------------

static bool gives_way(const cm_http *http, const connection *c, uint64_t *over_us)
{
    static const uint64_t times_us[] = {
        [FREE] = UINT64_MAX,    [READING] = CM_HTTP_EVICT_READING_US,
        [LINGERING] = 0,        [GIVEN] = UINT64_MAX,
        [WAITING] = UINT64_MAX, [WRITING] = CM_HTTP_EVICT_WRITING_US,
        [CLOSING] = UINT64_MAX};
    uint64_t spent_us = http->now_us - c->since_us;
    *over_us = spent_us - times_us[c->state];
    return spent_us >= times_us[c->state];
}

// Of those that have taken longer than they may where no other place is free, the one that has
// taken longest makes place.
static bool make_place(cm_http *http)
{
    connection *oldest = NULL;
    uint64_t most_us = 0, over_us;
    for (uint32_t i = 0; i < PLACES; i++) {
        connection *c = &http->connections[i];
        if (gives_way(http, c, &over_us) && (oldest == NULL || over_us > most_us)) {
            most_us = over_us;
            oldest = c;
        }
    }
    if (oldest == NULL) {
        return false;
    }
    if (oldest->state == WRITING) {
        http->stats.refused[CM_HTTP_UNREAD]++;
        end(http, oldest);
        return true;
    }
    if (oldest->state == READING) {
        send_refusal(http, oldest->descriptor, CM_HTTP_SLOW, &oldest->request);
    }
    drop(http, oldest);
    return true;
}

static connection *find_place(cm_http *http)
{
    if (http->stats.connections == CM_HTTP_CONNECTIONS_MAX && !make_place(http)) {
        return NULL;
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        if (http->connections[i].state == FREE) {
            return &http->connections[i];
        }
    }
    return NULL;
}

static bool accept_some(cm_http *http)
{
    for (uint32_t i = 0; i < CM_HTTP_TURN_ACCEPTS; i++) {
        int descriptor = accept4(http->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) {
            return false;
        }
        connection *c = find_place(http);
        // The head is peeked at and its bytes stay in the socket, so the event is edge-triggered.
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = c};
        if (c == NULL || epoll_ctl(http->events, EPOLL_CTL_ADD, descriptor, &event) != 0) {
            send_refusal(http, descriptor, CM_HTTP_BUSY, &(cm_http_request){0});
            close(descriptor);
            continue;
        }
        c->descriptor = descriptor;
        enter(http, c, READING);
        http->stats.connections++;
    }
    return true;
}

static void take_events(cm_http *http)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(http->events, events, EVENTS, 0);
    for (int i = 0; i < count; i++) {
        connection *c = events[i].data.ptr; // NULL: the listener, or the library
        if (c != NULL && (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
            c->hung_up = true;
        }
    }
}

static bool is_over(ssize_t got)
{
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void give(cm_http *http, connection *c)
{
    struct sockaddr_storage at = {.ss_family = AF_INET};
    socklen_t size = sizeof at;
    (void)getpeername(c->descriptor, (struct sockaddr *)&at, &size);
    cm_address peer = {.port = 0};
    (void)cm_socket_address_read(&at, &peer);
    c->network = cm_address_network(peer.ip);
    c->number = ++http->requests;
    (void)epoll_ctl(http->events, EPOLL_CTL_DEL, c->descriptor, NULL);
    enter(http, c, GIVEN);
    http->giving = c;
    // If it fails the library closes the socket, and notifies us only if it had notified the start.
    if (MHD_add_connection(http->daemon, c->descriptor, (struct sockaddr *)&at, size) != MHD_YES &&
        c->state == GIVEN) {
        http->stats.refused[CM_HTTP_BUSY]++;
        leave(http, c);
    }
    http->giving = NULL;
}

// The head leaves the socket's buffer, and the socket this server: it was only looked at until now,
// so that whoever takes it misses no byte of what comes next.
static void upgrade(cm_http *http, connection *c, size_t head)
{
    char bytes[CM_HTTP_BYTES_MAX];
    (void)!recv(c->descriptor, bytes, head, 0);
    (void)epoll_ctl(http->events, EPOLL_CTL_DEL, c->descriptor, NULL);
    cm_http_refusal found = http->def.upgrade(http->def.user, &c->request, c->descriptor);
    if (found == CM_HTTP_GOOD) {
        http->stats.upgraded++;
        leave(http, c);
        return;
    }
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    (void)epoll_ctl(http->events, EPOLL_CTL_ADD, c->descriptor, &event);
    refuse(http, c, found);
}

static void read_some(cm_http *http, connection *c)
{
    char bytes[CM_HTTP_BYTES_MAX];
    ssize_t got = recv(c->descriptor, bytes, sizeof bytes, MSG_PEEK);
    if (is_over(got)) {
        drop(http, c);
        return;
    }
    cm_http_refusal found =
        got > 0 ? cm_http_head_read(bytes, (size_t)got, &c->request) : CM_HTTP_MORE;
    if (found == CM_HTTP_GOOD && c->request.upgrades && http->def.upgrade != NULL) {
        upgrade(http, c, (size_t)got);
    } else if (found == CM_HTTP_GOOD) {
        memcpy(c->body, bytes + c->request.body_at, c->request.body_size);
        c->body[c->request.body_size] = '\0';
        give(http, c);
    } else if (found != CM_HTTP_MORE) {
        refuse(http, c, found);
    } else if (c->hung_up) {
        drop(http, c);
    }
}

static void linger(cm_http *http, connection *c)
{
    char bytes[LINGER_BYTES];
    if (is_over(recv(c->descriptor, bytes, sizeof bytes, 0))) {
        drop(http, c);
    }
}

// The library watches none that is suspended.
static void wait_for_page(cm_http *http, connection *c)
{
    char byte;
    if (recv(c->descriptor, &byte, 1, MSG_PEEK) < 0 && errno != EAGAIN && errno != EINTR) {
        end(http, c);
        return;
    }
    look_for_page(http, c);
    if (c->page == NULL && http->now_us - c->since_us >= CM_HTTP_PAGE_US) {
        set_refusal(http, c, CM_HTTP_LATE);
    }
    if (c->page != NULL) {
        MHD_resume_connection(c->library);
    }
}

static void step(cm_http *http, connection *c)
{
    uint64_t spent_us = http->now_us - c->since_us;
    switch (c->state) {
    case READING:
        read_some(http, c);
        if (c->state == READING && spent_us >= CM_HTTP_REQUEST_US) {
            refuse(http, c, CM_HTTP_SLOW);
        }
        break;
    case LINGERING:
        linger(http, c);
        if (c->state == LINGERING && spent_us >= CM_HTTP_LINGER_US) {
            drop(http, c);
        }
        break;
    case WAITING:
        wait_for_page(http, c);
        break;
    case GIVEN:
    case WRITING:
        if (spent_us >= CM_HTTP_ANSWER_US) {
            http->stats.refused[CM_HTTP_UNREAD]++;
            end(http, c);
        }
        break;
    case FREE:
    case CLOSING:
        break;
    }
}

// True: the library has something to do at once.
static bool run_library(cm_http *http)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    (void)MHD_run(http->daemon);
    return MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES && wait_ms == 0;
}

bool cm_http_turn(cm_http *http, uint64_t now_us)
{
    if (http == NULL) {
        return false;
    }
    http->now_us = now_us;
    http->pages = CM_HTTP_TURN_PAGES;
    bool more = accept_some(http);
    take_events(http);
    for (uint32_t i = 0; i < PLACES; i++) {
        step(http, &http->connections[(http->first + i) % PLACES]);
    }
    http->first = (http->first + 1) % PLACES;
    more = run_library(http) || more;
    return more || http->pages == 0;
}

#endif
