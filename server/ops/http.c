// The listener, its connections, and what each is at.
#include "server/ops/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_BYTES 4096u // thrown away in a turn
#define HEAD_BYTES   768u  // of an answer, with a refusal's text
// A browser takes from here alone what a page of ours needs, whatever got into it.
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

typedef enum state {
    FREE,
    READING,
    WAITING,
    WRITING,
    LINGERING,
} state;

typedef struct connection {
    state state;
    int descriptor;
    uint64_t since_us; // of the state
    size_t asked;
    char bytes[CM_HTTP_HEAD_MAX];
    cm_http_request request;
    char head[HEAD_BYTES]; // of the answer
    size_t head_size, sent;
    cm_page *page; // NULL: the answer ends with its head
} connection;

struct cm_http {
    cm_http_def def;
    int listener, events;
    uint16_t port;
    uint64_t now_us;
    uint32_t first; // connection whose turn comes first
    uint32_t pages; // left of this turn
    size_t bytes;   // likewise
    cm_http_stats stats;
    connection connections[CM_HTTP_CONNECTIONS_MAX];
};

// Making ---------------------------------------------------------------------------------------

static int listen_at(uint32_t address, uint16_t *port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = address};
    socklen_t size = sizeof at;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = listener >= 0 &&
                setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                bind(listener, (struct sockaddr *)&at, sizeof at) == 0 &&
                listen(listener, CM_HTTP_CONNECTIONS_MAX) == 0 &&
                getsockname(listener, (struct sockaddr *)&at, &size) == 0;
    int cause = errno;
    if (!good && listener >= 0) {
        close(listener);
        listener = -1;
    }
    *port = ntohs(at.sin_port);
    errno = cause;
    return listener;
}

cm_http *cm_http_create(const cm_http_def *def, char *error, size_t error_size)
{
    cm_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    http->def = *def;
    http->port = def->port;
    http->events = -1;
    http->listener = listen_at(def->address, &http->port);
    http->events = http->listener >= 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
    struct epoll_event event = {.events = EPOLLIN};
    if (http->events < 0 || epoll_ctl(http->events, EPOLL_CTL_ADD, http->listener, &event) != 0) {
        char dotted[INET_ADDRSTRLEN];
        int cause = errno;
        inet_ntop(AF_INET, &def->address, dotted, sizeof dotted);
        snprintf(error, error_size, "%s:%u: %s", dotted, (unsigned)def->port, strerror(cause));
        cm_http_destroy(http);
        return NULL;
    }
    return http;
}

static void drop(cm_http *http, connection *c)
{
    (void)epoll_ctl(http->events, EPOLL_CTL_DEL, c->descriptor, NULL);
    close(c->descriptor);
    cm_page_drop(c->page);
    c->page = NULL;
    c->state = FREE;
    http->stats.connections--;
}

void cm_http_destroy(cm_http *http)
{
    if (http == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        if (http->connections[i].state != FREE) {
            drop(http, &http->connections[i]);
        }
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
    return http->port;
}

int cm_http_descriptor(const cm_http *http)
{
    return http != NULL ? http->events : -1;
}

void cm_http_stats_get(const cm_http *http, cm_http_stats *stats)
{
    *stats = http->stats;
}

// Answers --------------------------------------------------------------------------------------

static void enter(cm_http *http, connection *c, state to)
{
    static const uint32_t events[] = {
        [READING] = EPOLLIN, [WRITING] = EPOLLOUT, [LINGERING] = EPOLLIN};
    struct epoll_event event = {.events = to == WAITING ? 0 : events[to]};
    c->state = to;
    c->since_us = http->now_us;
    (void)epoll_ctl(http->events, EPOLL_CTL_MOD, c->descriptor, &event);
}

static const char *status_text(uint32_t status)
{
    static const struct {
        uint32_t status;
        const char *text;
    } texts[] = {{200, "OK"},
                 {400, "Bad Request"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {408, "Request Timeout"},
                 {413, "Content Too Large"},
                 {414, "URI Too Long"},
                 {431, "Request Header Fields Too Large"},
                 {503, "Service Unavailable"},
                 {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].status == status) {
            return texts[i].text;
        }
    }
    return "Answer";
}

// Every answer is the last one of its connection, and nobody is to keep it.
static size_t put_head(char *head, size_t size, uint32_t status, const char *type, size_t length)
{
    return (size_t)snprintf(head, size,
                            "HTTP/1.1 %u %s\r\n%sContent-Type: %s\r\nContent-Length: %zu\r\n"
                            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                            "Content-Security-Policy: " POLICY "\r\n"
                            "Connection: close\r\n\r\n",
                            (unsigned)status, status_text(status),
                            status == 405 ? "Allow: GET, HEAD\r\n" : "", type, length);
}

// Head and text of a refusal.
static size_t put_refusal(char *head, size_t size, cm_http_refusal refusal, bool with_text)
{
    const char *text = cm_http_refusal_text(refusal);
    size_t at = put_head(head, size, cm_http_refusal_status(refusal), "text/plain; charset=utf-8",
                         strlen(text) + 1);
    return at + (with_text ? (size_t)snprintf(head + at, size - at, "%s\n", text) : 0);
}

static void refuse(cm_http *http, connection *c, cm_http_refusal refusal)
{
    http->stats.refused[refusal]++;
    c->head_size = put_refusal(c->head, sizeof c->head, refusal, !c->request.is_head);
    enter(http, c, WRITING);
}

static void answer(cm_http *http, connection *c, const cm_http_answer *found)
{
    http->stats.answered++;
    http->stats.failed += found->status >= 500;
    c->head_size = put_head(c->head, sizeof c->head, found->status, found->type, found->page->size);
    c->page = found->page;
    if (c->request.is_head) {
        cm_page_drop(c->page);
        c->page = NULL;
    }
    enter(http, c, WRITING);
}

// To one that has no place, or has it no longer; as far as the kernel takes it.
static void send_refusal(cm_http *http, int descriptor, cm_http_refusal refusal)
{
    char text[HEAD_BYTES];
    size_t size = put_refusal(text, sizeof text, refusal, true);
    (void)send(descriptor, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    http->stats.refused[refusal]++;
}

// A turn ---------------------------------------------------------------------------------------

// Of those who have taken longer than they may where no other place is free, the one that has taken
// longest makes place.
static connection *find_place(cm_http *http)
{
    static const uint64_t times_us[] = {[READING] = CM_HTTP_EVICT_READING_US,
                                        [WAITING] = UINT64_MAX,
                                        [WRITING] = CM_HTTP_EVICT_WRITING_US,
                                        [LINGERING] = 0};
    connection *oldest = NULL;
    uint64_t over_us = 0;
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        connection *c = &http->connections[i];
        if (c->state == FREE) {
            return c;
        }
        uint64_t spent_us = http->now_us - c->since_us;
        if (spent_us >= times_us[c->state] && spent_us - times_us[c->state] >= over_us) {
            over_us = spent_us - times_us[c->state];
            oldest = c;
        }
    }
    if (oldest != NULL && oldest->state == READING) {
        send_refusal(http, oldest->descriptor, CM_HTTP_SLOW);
    }
    if (oldest != NULL) {
        http->stats.refused[CM_HTTP_UNREAD] += oldest->state == WRITING;
        drop(http, oldest);
    }
    return oldest;
}

static bool accept_some(cm_http *http)
{
    for (uint32_t i = 0; i < CM_HTTP_TURN_ACCEPTS; i++) {
        int descriptor = accept4(http->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) {
            return false;
        }
        connection *c = find_place(http);
        struct epoll_event event = {.events = EPOLLIN};
        if (c == NULL || epoll_ctl(http->events, EPOLL_CTL_ADD, descriptor, &event) != 0) {
            send_refusal(http, descriptor, CM_HTTP_BUSY);
            close(descriptor);
            continue;
        }
        memset(c, 0, sizeof *c);
        c->state = READING;
        c->descriptor = descriptor;
        c->since_us = http->now_us;
        http->stats.connections++;
    }
    return true;
}

static bool is_over(ssize_t got)
{
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void read_some(cm_http *http, connection *c)
{
    ssize_t got = recv(c->descriptor, c->bytes + c->asked, sizeof c->bytes - c->asked, 0);
    if (is_over(got)) {
        drop(http, c);
        return;
    }
    c->asked += got > 0 ? (size_t)got : 0;
    cm_http_refusal found =
        got > 0 ? cm_http_head_read(c->bytes, c->asked, &c->request) : CM_HTTP_MORE;
    if (found == CM_HTTP_GOOD) {
        enter(http, c, WAITING);
    } else if (found != CM_HTTP_MORE) {
        refuse(http, c, found);
    }
}

static void look_for_page(cm_http *http, connection *c)
{
    cm_http_answer found = {.status = 200};
    char byte;
    if (recv(c->descriptor, &byte, 1, MSG_PEEK) < 0 && errno != EAGAIN && errno != EINTR) {
        drop(http, c);
        return;
    }
    if (http->pages == 0) {
        return;
    }
    switch (http->def.get(http->def.user, &c->request, &found)) {
    case CM_HTTP_NOT_THERE:
        http->pages--;
        refuse(http, c, CM_HTTP_PATH);
        break;
    case CM_HTTP_LATER:
        break;
    case CM_HTTP_ANSWERED:
        http->pages--;
        answer(http, c, &found);
        break;
    }
}

static void write_some(cm_http *http, connection *c)
{
    size_t body = c->page != NULL ? c->page->size : 0;
    while (c->sent < c->head_size + body && http->bytes > 0) {
        bool in_head = c->sent < c->head_size;
        const char *from = in_head ? c->head + c->sent : c->page->text + (c->sent - c->head_size);
        size_t left = in_head ? c->head_size - c->sent : c->head_size + body - c->sent;
        ssize_t sent = send(c->descriptor, from, left < http->bytes ? left : http->bytes,
                            MSG_NOSIGNAL | (in_head && body > 0 ? MSG_MORE : 0));
        if (sent < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                drop(http, c);
            }
            return;
        }
        c->sent += (size_t)sent;
        http->bytes -= (size_t)sent;
        http->stats.sent_bytes += (size_t)sent;
    }
    if (c->sent == c->head_size + body) {
        // Closed at once, bytes that nobody read would take the answer back.
        (void)shutdown(c->descriptor, SHUT_WR);
        enter(http, c, LINGERING);
    }
}

static void linger(cm_http *http, connection *c)
{
    char bytes[LINGER_BYTES];
    if (is_over(recv(c->descriptor, bytes, sizeof bytes, 0))) {
        drop(http, c);
    }
}

// Its time is up.
static void end(cm_http *http, connection *c)
{
    if (c->state == READING) {
        refuse(http, c, CM_HTTP_SLOW);
    } else if (c->state == WAITING) {
        refuse(http, c, CM_HTTP_LATE);
    } else {
        http->stats.refused[CM_HTTP_UNREAD] += c->state == WRITING;
        drop(http, c);
    }
}

static void step(cm_http *http, connection *c)
{
    static const uint64_t times_us[] = {[READING] = CM_HTTP_REQUEST_US,
                                        [WAITING] = CM_HTTP_PAGE_US,
                                        [WRITING] = CM_HTTP_ANSWER_US,
                                        [LINGERING] = CM_HTTP_LINGER_US};
    if (c->state == READING) {
        read_some(http, c);
    }
    if (c->state == WAITING) {
        look_for_page(http, c);
    }
    if (c->state == WRITING) {
        write_some(http, c);
    }
    if (c->state == LINGERING) {
        linger(http, c);
    }
    if (c->state != FREE && http->now_us - c->since_us >= times_us[c->state]) {
        end(http, c);
    }
}

bool cm_http_turn(cm_http *http, uint64_t now_us)
{
    if (http == NULL) {
        return false;
    }
    http->now_us = now_us;
    http->pages = CM_HTTP_TURN_PAGES;
    http->bytes = CM_HTTP_TURN_BYTES;
    bool more = accept_some(http);
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX && http->stats.connections > 0; i++) {
        connection *c = &http->connections[(http->first + i) % CM_HTTP_CONNECTIONS_MAX];
        if (c->state != FREE) {
            step(http, c);
        }
    }
    http->first = (http->first + 1) % CM_HTTP_CONNECTIONS_MAX;
    return more || http->pages == 0;
}
