// Goal: the HTTP server gives whole pages, and whatever comes it refuses, counts, and does bounded
// work a turn. Method: real sockets on loopback; time is an argument, so that nothing waits for it.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/ops/http.h"
#include "shared/base/rng.h"

#define GET "GET /page HTTP/1.1\r\nHost: a\r\n\r\n"

typedef struct site {
    cm_http *http;
    uint64_t now_us;
    size_t page_size;
    bool is_late; // the page is not made yet
    uint32_t asked;
    cm_page *shared; // given to everybody; NULL: one is made for each
} site;

static cm_http_found get(void *user, const cm_http_request *request, const cm_http_asker *asker,
                         cm_http_answer *answer)
{
    site *s = user;
    s->asked++;
    if (strcmp(request->path, CM_HTTP_API "echo") == 0) {
        cr_expect_eq(strlen(asker->body), request->body_size);
        cr_expect_neq(asker->network, 0);
        *answer = (cm_http_answer){201, "text/plain", cm_page_create(), .allow = "POST",
                                   .refusal = CM_HTTP_GOOD};
        cm_page_text(answer->page, asker->body);
        return CM_HTTP_ANSWERED;
    }
    if (strcmp(request->path, "/page") != 0) {
        return CM_HTTP_NOT_THERE;
    }
    if (s->is_late) {
        return CM_HTTP_LATER;
    }
    answer->type = "text/plain";
    if (s->shared != NULL) {
        answer->page = cm_page_hold(s->shared);
        return CM_HTTP_ANSWERED;
    }
    answer->page = cm_page_create();
    for (size_t i = 0; i < s->page_size; i++) {
        cm_page_bytes(answer->page, &"0123456789"[i % 10], 1);
    }
    return CM_HTTP_ANSWERED;
}

static void open_site(site *s)
{
    char error[256];
    cm_http_def def = {.address = CM_ADDRESS_IPV4(127, 0, 0, 1, 0), .get = get, .user = s};
    *s = (site){.now_us = 1000000, .page_size = 10};
    s->http = cm_http_create(&def, error, sizeof error);
    cr_assert_not_null(s->http, "%s", error);
}

static int connect_to(const site *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(cm_http_port(s->http)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(connect(descriptor, (struct sockaddr *)&at, sizeof at), 0);
    return descriptor;
}

static void turn(site *s)
{
    (void)cm_http_turn(s->http, s->now_us);
}

static cm_http_stats stats_of(const site *s)
{
    cm_http_stats stats;
    cm_http_stats_get(s->http, &stats);
    return stats;
}

static int ask(const site *s, const char *request)
{
    int descriptor = connect_to(s);
    cr_assert_eq(send(descriptor, request, strlen(request), MSG_NOSIGNAL),
                 (ssize_t)strlen(request));
    return descriptor;
}

// All that comes until the server has closed its half; then that connection is gone.
static size_t read_all(site *s, int descriptor, char *text, size_t size)
{
    size_t at = 0;
    ssize_t got = 1;
    while (got != 0) {
        turn(s);
        got = recv(descriptor, text + at, size - 1 - at, MSG_DONTWAIT);
        cr_assert(got >= 0 || errno == EAGAIN || errno == ECONNRESET, "%s", strerror(errno));
        got = got < 0 && errno == ECONNRESET ? 0 : got;
        at += got > 0 ? (size_t)got : 0;
        if (got < 0) {
            struct pollfd fds[] = {{.fd = descriptor, .events = POLLIN},
                                   {.fd = cm_http_descriptor(s->http), .events = POLLIN}};
            cr_assert_gt(poll(fds, 2, 60000), 0, "nothing came: %.*s", (int)at, text);
        }
    }
    text[at] = '\0';
    close(descriptor);
    return at;
}

static uint32_t status_of(const char *text)
{
    uint32_t status = 0;
    cr_expect_eq(sscanf(text, "HTTP/1.1 %u ", &status), 1, "%s", text);
    return status;
}

static const char *body_of(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n");
    cr_assert_not_null(end, "%s", text);
    return end + 4;
}

static void expect_refused(site *s, const char *request, cm_http_refusal refusal)
{
    char text[1024];
    uint64_t before = stats_of(s).refused[refusal];
    read_all(s, ask(s, request), text, sizeof text);
    cr_expect_eq(status_of(text), cm_http_refusal_status(refusal), "%s", text);
    cr_expect_eq(stats_of(s).refused[refusal], before + 1);
    char length[64];
    snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n",
             strlen(cm_http_refusal_text(refusal)) + 1);
    cr_expect_not_null(strstr(text, length), "%s", text);
    cr_expect_eq(strstr(text, "\r\nAllow: GET, HEAD\r\n") != NULL, refusal == CM_HTTP_METHOD);
}

Test(http, a_page_comes_whole_and_the_connection_ends)
{
    site s;
    char text[1024];
    open_site(&s);
    read_all(&s, ask(&s, GET), text, sizeof text);
    cr_expect_eq(status_of(text), 200);
    cr_expect_not_null(strstr(text, "\r\nContent-Length: 10\r\n"));
    cr_expect_not_null(strstr(text, "\r\nConnection: close\r\n"));
    cr_expect_not_null(strstr(text, "\r\nContent-Security-Policy: default-src 'none';"));
    cr_expect_str_eq(body_of(text), "0123456789");
    read_all(&s, ask(&s, "HEAD /page HTTP/1.1\r\nHost: a\r\n\r\n"), text, sizeof text);
    cr_expect_not_null(strstr(text, "\r\nContent-Length: 10\r\n"));
    cr_expect_str_eq(body_of(text), "", "HEAD has no body");
    turn(&s);
    cr_expect_eq(stats_of(&s).answered, 2);
    cr_expect_eq(stats_of(&s).connections, 0);
    cm_http_destroy(s.http);
}

// A request may come byte by byte, and an answer go slowly; the rest goes on.
Test(http, slow_ends_get_their_page)
{
    site s;
    static char text[3 << 20];
    open_site(&s);
    s.page_size = 2 << 20;
    int slow = connect_to(&s);
    for (const char *at = GET; *at != '\0'; at++) {
        cr_assert_eq(send(slow, at, 1, MSG_NOSIGNAL), 1);
        turn(&s);
    }
    cr_expect_gt(read_all(&s, slow, text, sizeof text), s.page_size);
    cr_expect_eq(strlen(body_of(text)), s.page_size);
    const char *body = body_of(text);
    for (size_t i = 0; i < s.page_size; i++) {
        cr_assert_eq(body[i], "0123456789"[i % 10]);
    }
    cm_http_destroy(s.http);
}

Test(http, a_turn_sends_so_much_and_no_more)
{
    site s;
    open_site(&s);
    s.page_size = 1 << 20;
    int ends[8];
    for (uint32_t i = 0; i < 8; i++) {
        ends[i] = ask(&s, GET);
    }
    uint64_t sent = 0;
    uint32_t asked = 0;
    for (uint32_t i = 0; i < 200; i++) {
        turn(&s);
        cr_expect_leq(stats_of(&s).sent_bytes - sent, CM_HTTP_TURN_BYTES);
        cr_expect_leq(s.asked - asked, CM_HTTP_TURN_PAGES);
        sent = stats_of(&s).sent_bytes;
        asked = s.asked;
    }
    cr_expect_eq(s.asked, 8);
    cr_expect_gt(sent, 0);
    for (uint32_t i = 0; i < 8; i++) {
        close(ends[i]);
    }
    cm_http_destroy(s.http);
}

Test(http, what_is_hostile_is_refused_with_its_status)
{
    site s;
    static char big[2 * CM_HTTP_HEAD_MAX];
    open_site(&s);
    expect_refused(&s, "\x16\x03\x01\x02\x01", CM_HTTP_MALFORMED);
    expect_refused(&s, "GET / HTTP/1.1\r\n\r\n", CM_HTTP_HOST);
    expect_refused(&s, GET GET GET, CM_HTTP_PIPELINED);
    expect_refused(&s, "POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789",
                   CM_HTTP_METHOD);
    expect_refused(&s, "GET /page/../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", CM_HTTP_PATH);
    expect_refused(&s, "GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789",
                   CM_HTTP_BODY);
    expect_refused(&s, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", CM_HTTP_VERSION);
    snprintf(big, sizeof big, "GET /%0*d HTTP/1.1\r\nHost: a\r\n\r\n", 3000, 0);
    expect_refused(&s, big, CM_HTTP_TARGET);
    snprintf(big, sizeof big, "GET /page HTTP/1.1\r\nHost: a\r\nX: %0*d\r\n\r\n",
             (int)CM_HTTP_HEAD_MAX, 0);
    expect_refused(&s, big, CM_HTTP_HEAD);
    turn(&s);
    cr_expect_eq(stats_of(&s).connections, 0);
    cr_expect_eq(stats_of(&s).answered, 0);
    cm_http_destroy(s.http);
}

// Bytes that come one at a time do not put off the end of the time for a head.
Test(http, a_slow_request_is_refused_when_its_time_is_up)
{
    site s;
    char text[1024];
    open_site(&s);
    int slow = connect_to(&s);
    turn(&s);
    for (uint64_t at = 0; at < CM_HTTP_REQUEST_US; at += CM_HTTP_REQUEST_US / 5) {
        cr_assert_eq(send(slow, "G", 1, MSG_NOSIGNAL), 1);
        cr_expect_eq(stats_of(&s).refused[CM_HTTP_SLOW], 0);
        turn(&s);
        s.now_us += CM_HTTP_REQUEST_US / 5;
    }
    read_all(&s, slow, text, sizeof text);
    cr_expect_eq(status_of(text), 408);
    cr_expect_eq(stats_of(&s).refused[CM_HTTP_SLOW], 1);
    cm_http_destroy(s.http);
}

Test(http, a_page_that_is_not_made_in_time_is_503)
{
    site s;
    char text[1024];
    open_site(&s);
    s.is_late = true;
    int waits = ask(&s, GET);
    for (uint32_t i = 0; i < 10; i++) {
        cr_expect_not(cm_http_turn(s.http, s.now_us), "who waits does not keep the loop awake");
    }
    s.is_late = false;
    read_all(&s, waits, text, sizeof text);
    cr_expect_eq(status_of(text), 200);
    s.is_late = true;
    waits = ask(&s, GET);
    while (s.asked < 20) {
        turn(&s);
    }
    s.now_us += CM_HTTP_PAGE_US;
    read_all(&s, waits, text, sizeof text);
    cr_expect_eq(status_of(text), 503);
    cr_expect_eq(stats_of(&s).refused[CM_HTTP_LATE], 1);
    cm_http_destroy(s.http);
}

Test(http, an_answer_that_nobody_reads_ends)
{
    site s;
    open_site(&s);
    s.page_size = 16 << 20; // more than the kernel keeps
    int end = ask(&s, GET);
    for (uint32_t i = 0; i < 500; i++) {
        turn(&s);
    }
    cr_expect_eq(stats_of(&s).connections, 1);
    s.now_us += CM_HTTP_ANSWER_US;
    turn(&s);
    cr_expect_eq(stats_of(&s).refused[CM_HTTP_UNREAD], 1);
    cr_expect_eq(stats_of(&s).connections, 0);
    close(end);
    cm_http_destroy(s.http);
}

// Goal: the library reads a body's end where it was checked; refusals of an API are JSON. Method: a
// body that comes at once, and byte by byte; the longest.
Test(http, an_api_gets_bodies)
{
    site s;
    static char text[2 * CM_HTTP_BYTES_MAX], head[2 * CM_HTTP_BYTES_MAX];
    open_site(&s);
    for (size_t length = 0; length <= 5120; length = length == 0 ? 5 : 4 * length) {
        size_t body = length == 5120 ? CM_HTTP_BODY_MAX : length;
        int size =
            snprintf(head, sizeof head,
                     "POST /api/v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", body);
        memset(head + size, 'b', body);
        head[(size_t)size + body] = '\0';
        read_all(&s, ask(&s, head), text, sizeof text);
        cr_expect_eq(status_of(text), 201, "%s", text);
        cr_expect_not_null(strstr(text, "\r\nAllow: POST\r\n"));
        cr_expect_str_eq(body_of(text), head + size);
        int slow = connect_to(&s);
        for (const char *at = head; *at != '\0' && body < 100; at++) {
            cr_assert_eq(send(slow, at, 1, MSG_NOSIGNAL), 1);
            turn(&s);
        }
        if (body < 100) {
            read_all(&s, slow, text, sizeof text);
            cr_expect_str_eq(body_of(text), head + size);
        }
    }
    read_all(&s, ask(&s, "PUT /api/v1/echo HTTP/1.1\r\n\r\n"), text, sizeof text);
    cr_expect_eq(status_of(text), 405);
    cr_expect_not_null(strstr(text, "\r\nAllow: " CM_HTTP_API_METHODS "\r\n"), "%s", text);
    cr_expect_eq(strncmp(body_of(text), "{\"error\":{\"code\":\"method\",", 26), 0, "%s", text);
    read_all(&s, ask(&s, "DELETE /api/v1/none HTTP/1.1\r\nHost: a\r\n\r\n"), text, sizeof text);
    cr_expect_eq(status_of(text), 404);
    cr_expect_not_null(strstr(text, "\r\nContent-Type: application/json\r\n"), "%s", text);
    cm_http_destroy(s.http);
}

// Those who send nothing fill every place; a scrape comes in all the same, once they had their
// time.
Test(http, silent_connections_make_place)
{
    site s;
    char text[1024];
    int silent[CM_HTTP_CONNECTIONS_MAX];
    open_site(&s);
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        silent[i] = connect_to(&s);
        turn(&s);
    }
    while (stats_of(&s).connections < CM_HTTP_CONNECTIONS_MAX) {
        turn(&s);
    }
    read_all(&s, ask(&s, GET), text, sizeof text);
    cr_expect_eq(status_of(text), 503);
    cr_expect_eq(stats_of(&s).refused[CM_HTTP_BUSY], 1);
    s.now_us += CM_HTTP_EVICT_READING_US;
    read_all(&s, ask(&s, GET), text, sizeof text);
    cr_expect_eq(status_of(text), 200);
    cr_expect_eq(stats_of(&s).refused[CM_HTTP_SLOW], 1);
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        close(silent[i]);
    }
    while (stats_of(&s).connections > 0) {
        turn(&s);
    }
    cm_http_destroy(s.http);
}

// Those who never read their answer make place after a while too.
Test(http, unread_answers_make_place)
{
    site s;
    static const char bytes[1 << 16];
    static char text[1024];
    int unread[CM_HTTP_CONNECTIONS_MAX];
    open_site(&s);
    s.shared = cm_page_create();
    while (s.shared->size < 16u << 20) { // more than the kernel keeps
        cm_page_bytes(s.shared, bytes, sizeof bytes);
    }
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        unread[i] = ask(&s, GET);
        while (stats_of(&s).answered <= i) {
            turn(&s);
        }
    }
    read_all(&s, ask(&s, GET), text, sizeof text);
    cr_expect_eq(status_of(text), 503);
    cm_page_drop(s.shared);
    s.shared = NULL;
    s.now_us += CM_HTTP_EVICT_WRITING_US;
    read_all(&s, ask(&s, GET), text, sizeof text);
    cr_expect_eq(status_of(text), 200);
    cr_expect_eq(stats_of(&s).refused[CM_HTTP_UNREAD], 1);
    cr_expect_eq(stats_of(&s).connections, CM_HTTP_CONNECTIONS_MAX - 1);
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        close(unread[i]);
    }
    cm_http_destroy(s.http);
}

// A head that is good here is good to the library too, and no bad one is answered with a page: good
// heads, of which most have one byte changed.
Test(http, the_library_reads_heads_as_they_were_checked)
{
    static const char *const lines[] = {"GET /page HTTP/1.1", "HEAD /page?a=%00&b HTTP/1.1",
                                        "GET //%zz/page HTTP/1.0", "GET * HTTP/1.1",
                                        "GET http://a/page HTTP/1.1"};
    static const char *const headers[] = {"Host: a",
                                          "Host:localhost \t",
                                          "Content-Length: 0",
                                          "Accept:",
                                          "Connection: Upgrade, keep-alive",
                                          "Upgrade: h2c",
                                          "Cookie: a=b; c=\"d\"; e",
                                          "Expect: 100-continue",
                                          "Authorization: Digest x=\"y",
                                          "!#$: ~"};
    static const char alphabet[] = "\r\n :;\t,0aG/\x7f\x01%?\"";
    uint32_t good = 0, bad = 0;
    site s;
    cm_rng rng;
    cm_rng_seed(&rng, 21);
    open_site(&s);
    for (uint32_t i = 0; i < 1500; i++) {
        char text[1024], head[512];
        cm_http_request request;
        int size = snprintf(head, sizeof head, "%s\r\nHost: b\r\n", lines[cm_rng_below(&rng, 5)]);
        for (uint32_t n = cm_rng_below(&rng, 4); n > 0; n--) {
            const char *header = headers[cm_rng_below(&rng, sizeof headers / sizeof headers[0])];
            size += snprintf(head + size, sizeof head - (size_t)size, "%s\r\n", header);
        }
        size += snprintf(head + size, sizeof head - (size_t)size, "\r\n");
        if (i % 4 != 0) {
            head[cm_rng_below(&rng, (uint32_t)size)] =
                alphabet[cm_rng_below(&rng, sizeof alphabet - 1)];
        }
        cm_http_refusal found = cm_http_head_read(head, (size_t)size, &request);
        if (found == CM_HTTP_MORE) {
            continue;
        }
        read_all(&s, ask(&s, head), text, sizeof text);
        bool there = strcmp(request.path, "/page") == 0;
        cr_expect_eq(status_of(text),
                     found != CM_HTTP_GOOD ? cm_http_refusal_status(found)
                     : there               ? 200
                                           : 404,
                     "%s%s", head, text);
        good += found == CM_HTTP_GOOD;
        bad += found != CM_HTTP_GOOD;
    }
    cr_expect_gt(good, 300);
    cr_expect_gt(bad, 300);
    cm_http_destroy(s.http);
}

// Of one that waits for its page, and of one whose answer is on its way.
Test(http, it_ends_with_connections_open)
{
    site s;
    open_site(&s);
    s.page_size = 1 << 20;
    int reading = connect_to(&s), writing = ask(&s, GET);
    while (s.asked < 1) {
        turn(&s);
    }
    s.is_late = true;
    int waiting = ask(&s, GET);
    while (s.asked < 2) {
        turn(&s);
    }
    cr_expect_eq(stats_of(&s).connections, 3);
    cm_http_destroy(s.http);
    close(reading);
    close(writing);
    close(waiting);
}

// Who waits and is gone leaves its place before its page is there.
Test(http, one_that_is_gone_waits_no_longer)
{
    site s;
    open_site(&s);
    s.is_late = true;
    int waiting = ask(&s, GET);
    while (s.asked < 1) {
        turn(&s);
    }
    struct linger reset = {.l_onoff = 1};
    cr_assert_eq(setsockopt(waiting, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    close(waiting);
    for (uint32_t i = 0; i < 1000 && stats_of(&s).connections > 0; i++) {
        turn(&s);
    }
    cr_expect_eq(stats_of(&s).connections, 0);
    cm_http_destroy(s.http);
}

static void connect_silent(site *s, int *silent, uint64_t connections)
{
    s->now_us += 1000;
    *silent = connect_to(s);
    while (stats_of(s).connections < connections) {
        turn(s);
    }
}

// Of many that are too slow, the one that came first goes, wherever its place is.
Test(http, the_slowest_of_all_makes_place)
{
    site s;
    char text[1024];
    int silent[CM_HTTP_CONNECTIONS_MAX];
    const uint32_t oldest = CM_HTTP_CONNECTIONS_MAX / 3;
    open_site(&s);
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        connect_silent(&s, &silent[i], i + 1);
    }
    for (uint32_t i = 0; i < oldest; i++) { // others come into the first places
        close(silent[i]);
        while (stats_of(&s).connections == CM_HTTP_CONNECTIONS_MAX) {
            turn(&s);
        }
        connect_silent(&s, &silent[i], CM_HTTP_CONNECTIONS_MAX);
    }
    s.now_us += 2 * CM_HTTP_EVICT_READING_US;
    read_all(&s, ask(&s, GET), text, sizeof text);
    cr_expect_eq(status_of(text), 200);
    for (uint32_t i = 0; i < CM_HTTP_CONNECTIONS_MAX; i++) {
        ssize_t got = recv(silent[i], text, sizeof text - 1, MSG_DONTWAIT);
        cr_expect_eq(got > 0, i == oldest, "connection %u", i);
        close(silent[i]);
    }
    cm_http_destroy(s.http);
}

// Far more than there are places, all at once.
Test(http, a_burst_is_taken_in_turns)
{
    site s;
    int ends[400];
    open_site(&s);
    for (uint32_t i = 0; i < 400; i++) {
        if (i % 8 == 0) { // the kernel queues no more than a few turns take
            turn(&s);
        }
        ends[i] = ask(&s, GET);
    }
    uint64_t done = 0;
    for (uint32_t i = 0; i < 4000 && done < 400; i++) {
        turn(&s);
        done = stats_of(&s).answered + stats_of(&s).refused[CM_HTTP_BUSY];
        cr_expect_leq(stats_of(&s).connections, CM_HTTP_CONNECTIONS_MAX);
    }
    cr_expect_eq(done, 400);
    for (uint32_t i = 0; i < 400; i++) {
        close(ends[i]);
    }
    cm_http_destroy(s.http);
}

Test(http, a_taken_port_is_said)
{
    site s;
    char error[256], port[16];
    open_site(&s);
    cm_http_def def = {.address = CM_ADDRESS_IPV4(127, 0, 0, 1, cm_http_port(s.http))};
    cr_expect_null(cm_http_create(&def, error, sizeof error));
    snprintf(port, sizeof port, ":%u: ", (unsigned)def.address.port);
    cr_expect_not_null(strstr(error, port), "%s", error);
    cm_http_destroy(s.http);
}
