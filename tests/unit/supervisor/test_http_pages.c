// Goal: `carom serve --http` tells a monitoring how the server is, with workers and without, and
// nothing that is not for everybody to strangers. Method: the command in a child process, asked
// over real sockets; a worker that is killed; the reader of prometheus_reader.h.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/ops/prometheus_reader.h"
#include "tests/unit/node/serving.h"

#define TRIES 60000 // of 10 ms

static unsigned port;

static void start(serving *c, char *workers)
{
    char address[256];
    unsetenv("CAROM_BINARY");
    serving_make_directory(c);
    char *argv[] = {"carom",
                    "serve",
                    "--insecure",
                    "--workers",
                    workers,
                    "--listen",
                    "127.0.0.1:0",
                    "--room",
                    "a=tests/scenes/sandbox.json",
                    "--room",
                    "b=tests/scenes/sandbox.json",
                    "--matches",
                    c->matches,
                    "--http",
                    "127.0.0.1:0",
                    "--ready-file",
                    c->ready,
                    "--status-interval-ms",
                    "100",
                    NULL};
    serving_start(c, argv);
    serving_wait_for_size(c, c->ready, 1);
    serving_wait_for_log(c, "http", 1);
    cr_assert_eq(serving_read_log(c->err, "http", "address", address), 1);
    port = (unsigned)strtoul(strrchr(address, ':') + 1, NULL, 10);
    cr_assert_neq(port, 0);
}

static int end(const serving *c)
{
    kill(c->pid, SIGTERM);
    int status = serving_finish(c);
    serving_remove_directory(c);
    return status;
}

// The status; `body` is what follows the head.
static uint32_t fetch(const char *path, const char *host, const char **body)
{
    static char text[1 << 20];
    char lines[128], *found;
    size_t size;
    snprintf(lines, sizeof lines, "Host: %s\r\n", host);
    uint32_t status = serving_http_get(port, path, lines, text, sizeof text, &found, &size);
    *body = found;
    return status;
}

static const prometheus_text *metrics(void)
{
    const char *body;
    cr_assert_eq(fetch("/metrics", "localhost", &body), 200);
    return prometheus_text_read(body);
}

// Until every room has told how many ticks it made.
static const prometheus_text *wait_for_ticks(const serving *c)
{
    for (uint32_t i = 0; i < TRIES; i++) {
        const prometheus_text *e = metrics();
        if (prometheus_text_has(e, "carom_room_tick", "room=\"a\"") &&
            prometheus_text_has(e, "carom_room_tick", "room=\"b\"") &&
            prometheus_text_value(e, "carom_room_tick", "room=\"a\"") > 0.0 &&
            prometheus_text_value(e, "carom_room_tick", "room=\"b\"") > 0.0) {
            return e;
        }
        cr_assert_eq(kill(c->pid, 0), 0);
        usleep(10000);
    }
    cr_assert_fail("the rooms' metrics did not come");
    return NULL;
}

static void expect_health(const serving *c, const char *path, uint32_t status)
{
    const char *body = "";
    for (uint32_t i = 0; i < TRIES; i++) {
        if (fetch(path, "localhost", &body) == status) {
            return;
        }
        cr_assert_eq(kill(c->pid, 0), 0);
        usleep(10000);
    }
    cr_assert_fail("%s never was %u: %s", path, status, body);
}

// Objects of `path`, whose keys are those that carom admin gives, but for `without`.
static void expect_as_admin(const serving *c, const char *path, const char *host,
                            const char *without)
{
    const char *body;
    char request[64];
    json_error_t error;
    cr_assert_eq(fetch(path, host, &body), 200);
    json_t *list = json_loads(body, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json_is_array(list), "%s", body);
    snprintf(request, sizeof request, "{\"command\":\"%s\"}", path + 1);
    char *lines = strdup(serving_ask(c, request));
    size_t count = 0;
    for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n"), count++) {
        json_t *object = json_loads(line, 0, NULL);
        const json_t *found = json_array_get(list, count);
        const char *key;
        json_t *value;
        json_object_foreach(object, key, value)
        {
            bool hidden = without != NULL && strcmp(key, without) == 0;
            cr_expect_eq(json_object_get(found, key) == NULL, hidden, "%s", key);
        }
        json_decref(object);
    }
    cr_expect_eq(json_array_size(list), count);
    free(lines);
    json_decref(list);
}

// Of both rooms, as soon as a sample has them; asked for again, nothing of it is lost.
static void expect_history(void)
{
    const char *body = "";
    json_t *whole = NULL;
    for (uint32_t i = 0; i < TRIES; i++) {
        json_decref(whole);
        cr_assert_eq(fetch("/history", "127.0.0.1", &body), 200);
        whole = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
        cr_assert_not_null(whole, "%s", body);
        if (json_object_size(json_object_get(whole, "tick_p99_ms")) == 2) {
            break;
        }
        usleep(10000);
    }
    const json_t *server = json_object_get(whole, "server");
    cr_expect_eq(json_object_size(json_object_get(whole, "tick_p99_ms")), 2, "%s", body);
    cr_expect_eq(json_integer_value(json_object_get(server, "rooms")), 2);
    cr_expect_gt(json_integer_value(json_object_get(server, "memory_bytes")), 1000000);
    cr_expect_gt(json_string_length(json_object_get(server, "version")), 0);
    json_int_t first = json_integer_value(json_array_get(json_object_get(whole, "times_ms"), 0));
    json_decref(whole);
    cr_assert_eq(fetch("/history", "127.0.0.1", &body), 200);
    whole = json_loads(body, 0, NULL);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(whole, "times_ms"), 0)), first);
    json_decref(whole);
}

static void expect_pages(const serving *c)
{
    const char *body;
    const prometheus_text *e = wait_for_ticks(c);
    cr_expect_eq(prometheus_text_value(e, "carom_rooms", ""), 2.0);
    cr_expect_eq(prometheus_text_value(e, "carom_ready", ""), 1.0);
    cr_expect_eq(prometheus_text_value(e, "carom_room_durable", "room=\"a\""), 1.0);
    cr_expect_gt(prometheus_text_value(e, "carom_room_tick_seconds_count", "room=\"a\""), 0.0);
    cr_expect_gt(prometheus_text_value(e, "carom_worker_resident_memory_bytes", "worker=\"0\""),
                 1e6);
    cr_expect_gt(prometheus_text_value(e, "carom_start_time_seconds", ""), 1.7e9);
    expect_health(c, "/healthz", 200);
    expect_health(c, "/readyz", 200);
    expect_as_admin(c, "/rooms", "127.0.0.1", NULL);
    expect_as_admin(c, "/rooms", "example.com", "match");
    cr_expect_eq(fetch("/players", "127.0.0.1", &body), 200);
    cr_expect_str_eq(body, "[]\n");
    expect_history();
    cr_expect_eq(fetch("/", "127.0.0.1", &body), 200);
    cr_expect_eq(strncmp(body, "<!doctype html>\n", 16), 0, "%s", body);
    cr_expect_null(strstr(body, "//"), "nothing comes from elsewhere");
    cr_expect_eq(fetch("/page.js", "127.0.0.1", &body), 200);
    cr_expect_not_null(strstr(body, "\"use strict\";"));
    cr_expect_null(strstr(body, "innerHTML"), "what a server says is text");
    cr_expect_eq(fetch("/page.css", "127.0.0.1", &body), 200);
    cr_expect_eq(fetch("/drain", "127.0.0.1", &body), 404);
    cr_expect_eq(fetch("/metrics/", "127.0.0.1", &body), 404);
}

Test(http_pages, pages_of_a_server_with_workers)
{
    serving c;
    start(&c, "2");
    expect_pages(&c);
    const prometheus_text *e = metrics();
    cr_expect_eq(prometheus_text_value(e, "carom_workers", ""), 2.0);
    cr_expect_eq(prometheus_text_value(e, "carom_worker_up", "worker=\"1\""), 1.0);
    cr_expect_eq(end(&c), 0);
}

Test(http_pages, pages_of_a_server_in_one_process)
{
    serving c;
    start(&c, "0");
    expect_pages(&c);
    cr_expect_eq(prometheus_text_value(metrics(), "carom_workers", ""), 1.0);
    cr_expect_eq(end(&c), 0);
}

// Names and ids of players go to who asks on this machine by its name, and to nobody else.
Test(http_pages, who_plays_is_told_on_this_machine_alone)
{
    serving c;
    char address[64];
    const char *body;
    start(&c, "2");
    serving_read_text(c.ready, address, sizeof address);
    address[strcspn(address, "\n")] = '\0';
    serving bots = c;
    snprintf(bots.out, sizeof bots.out, "%s/bots", c.directory);
    snprintf(bots.err, sizeof bots.err, "%s/bots.err", c.directory);
    char *argv[] = {"carom", "bots",   "--connect", address,     "--count", "1", "--predict",
                    "0",     "--room", "a",         "--seconds", "100000",  NULL};
    serving_start(&bots, argv);
    for (uint32_t i = 0; i < TRIES; i++) {
        cr_assert_eq(fetch("/players", "localhost", &body), 200);
        if (strstr(body, "\"player\"") != NULL) {
            break;
        }
        usleep(10000);
    }
    cr_expect_not_null(strstr(body, "\"name\":\"bot 1\""), "%s", body);
    cr_expect_not_null(strstr(body, "\"client_id\":\""), "%s", body);
    cr_expect_eq(fetch("/players", "rebound.example", &body), 200);
    cr_expect_not_null(strstr(body, "\"player\""), "%s", body);
    cr_expect_null(strstr(body, "bot 1"), "%s", body);
    cr_expect_null(strstr(body, "client_id"), "%s", body);
    for (uint32_t i = 0; i < TRIES; i++) {
        const prometheus_text *e = metrics();
        if (prometheus_text_value(e, "carom_players", "") == 1.0 &&
            prometheus_text_value(e, "carom_room_inputs_total", "room=\"a\"") > 0.0) {
            break;
        }
        cr_assert_lt(i + 1, TRIES);
        usleep(10000);
    }
    kill(bots.pid, SIGINT);
    serving_finish(&bots);
    cr_expect_eq(end(&c), 0);
}

// The process that the log names last.
static pid_t worker_of(const serving *c)
{
    char line[1024];
    long pid = 0;
    FILE *log = fopen(c->err, "r");
    cr_assert_not_null(log);
    while (fgets(line, sizeof line, log) != NULL) {
        const char *at = strstr(line, "\"process\":");
        pid = at != NULL ? strtol(at + 10, NULL, 10) : pid;
    }
    fclose(log);
    cr_assert_gt(pid, 1);
    return (pid_t)pid;
}

// A worker that is stopped is not there for /rooms, and its metrics stay as they were; once it is
// dead the server is not healthy until it is back.
Test(http_pages, a_worker_that_dies_is_seen)
{
    serving c;
    char process[256];
    const char *body;
    start(&c, "2");
    wait_for_ticks(&c);
    serving_wait_for_log(&c, "worker", 2);
    pid_t pid = worker_of(&c);
    kill(pid, SIGSTOP);
    cr_expect_eq(fetch("/healthz", "localhost", &body), 200, "%s", body);
    cr_expect_eq(fetch("/rooms", "localhost", &body), 503, "%s", body);
    kill(pid, SIGKILL);
    serving_wait_for_log(&c, "worker died", 1);
    serving_wait_for_log(&c, "worker", 3);
    expect_health(&c, "/healthz", 200);
    const prometheus_text *e = wait_for_ticks(&c);
    double restarts = prometheus_text_value(e, "carom_worker_restarts_total", "worker=\"0\"") +
                      prometheus_text_value(e, "carom_worker_restarts_total", "worker=\"1\"");
    cr_expect_eq(restarts, 1.0);
    cr_expect_eq(serving_read_log(c.err, "worker died", "signal", process), 1);
    expect_health(&c, "/rooms", 200);
    expect_as_admin(&c, "/rooms", "127.0.0.1", NULL);
    cr_expect_eq(end(&c), 0);
}

// It lives, and a room may be opened again: but there is none to come into.
Test(http_pages, a_server_without_rooms_is_healthy_but_not_ready)
{
    serving c;
    start(&c, "2");
    expect_health(&c, "/readyz", 200);
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"close\",\"room\":\"a\"}"),
                     "{\"done\":\"close\"}\n");
    cr_expect_str_eq(serving_ask(&c, "{\"command\":\"close\",\"room\":\"b\"}"),
                     "{\"done\":\"close\"}\n");
    expect_health(&c, "/readyz", 503);
    expect_health(&c, "/healthz", 200);
    cr_expect_eq(end(&c), 0);
}

// Of a drain that waits for its verification.
Test(http_pages, a_server_that_drains_is_neither_healthy_nor_ready)
{
    serving c;
    char ignored[256];
    start(&c, "2");
    wait_for_ticks(&c);
    serving_wait_for_log(&c, "worker", 2);
    pid_t pid = worker_of(&c);
    kill(pid, SIGSTOP); // it drains when it is let go
    kill(c.pid, SIGTERM);
    expect_health(&c, "/healthz", 503);
    expect_health(&c, "/readyz", 503);
    for (uint32_t i = 0; prometheus_text_value(metrics(), "carom_draining", "") == 0.0; i++) {
        cr_assert_lt(i, TRIES); // a page is given for a second
        usleep(10000);
    }
    kill(pid, SIGCONT);
    cr_expect_eq(serving_finish(&c), 0);
    cr_expect_eq(serving_read_log(c.err, "stop", "room", ignored), 2);
    serving_remove_directory(&c);
}

static void take_port(char address[64], int *taken)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    *taken = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(*taken, (struct sockaddr *)&at, size), 0);
    cr_assert_eq(listen(*taken, 1), 0);
    cr_assert_eq(getsockname(*taken, (struct sockaddr *)&at, &size), 0);
    snprintf(address, 64, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
}

Test(http_pages, an_address_that_is_taken_ends_the_start)
{
    static char *const workers[] = {"0", "2"};
    char address[64], text[1024];
    int taken;
    unsetenv("CAROM_BINARY");
    take_port(address, &taken);
    for (uint32_t i = 0; i < 3; i++) {
        serving c;
        serving_make_directory(&c);
        char *argv[] = {"carom",
                        "serve",
                        "--insecure",
                        "--workers",
                        workers[i % 2],
                        "--listen",
                        "127.0.0.1:0",
                        "--scene",
                        "tests/scenes/hello.json",
                        "--matches",
                        c.matches,
                        "--http",
                        address,
                        i == 2 ? "--check-config" : NULL,
                        NULL};
        serving_start(&c, argv);
        cr_expect_eq(serving_finish(&c), 1);
        serving_read_text(c.err, text, sizeof text);
        cr_expect_not_null(strstr(text, "carom: serve: http: "), "%s", text);
        cr_expect_not_null(strstr(text, address), "%s", text);
        if (i < 2) {
            serving_expect_nothing_left(&c, address);
        }
        serving_remove_directory(&c);
    }
    close(taken);
}
