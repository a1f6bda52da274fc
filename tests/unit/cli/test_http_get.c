// Goal: what a viewer's GET takes from a server is whole and bounded, whatever that sends; its
// address is what it says. Method: a server in a child process, which answers a connection with one
// text and closes it.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/cli/http_get.h"

#define MOST 100000u

typedef struct speaker {
    pid_t pid;
    char url[64];
} speaker;

// `times`: how often the text is sent.
static void speak(speaker *s, const char *text, uint32_t times)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u/x", ntohs(at.sin_port));
    s->pid = fork();
    if (s->pid == 0) {
        char asked[4096];
        signal(SIGPIPE, SIG_IGN);
        int descriptor = accept(listener, NULL, NULL);
        ssize_t got = recv(descriptor, asked, sizeof asked, 0);
        for (uint32_t i = 0; got > 0 && i < times; i++) {
            if (send(descriptor, text, strlen(text), MSG_NOSIGNAL) < 0) {
                break;
            }
        }
        shutdown(descriptor, SHUT_WR);
        while (recv(descriptor, asked, sizeof asked, 0) > 0) {
        }
        _exit(0);
    }
    close(listener);
}

static bool get(const char *text, uint32_t times, cm_http_got *got)
{
    speaker s;
    char error[256];
    speak(&s, text, times);
    bool good = cm_http_get(s.url, MOST, got, error, sizeof error);
    cr_assert(good || error[0] != '\0');
    waitpid(s.pid, NULL, 0);
    return good;
}

Test(http_get, whole_answers_are_taken)
{
    cm_http_got got;
    cr_assert(get("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 1, &got));
    cr_expect(got.status == 200 && got.size == 5 && memcmp(got.body, "hello", 5) == 0);
    free(got.body);
    cr_assert(get("HTTP/1.0 404 Not Found\r\ncontent-LENGTH: 0\r\n\r\n", 1, &got));
    cr_expect(got.status == 404 && got.size == 0);
    free(got.body);
    cr_assert(get("HTTP/1.0 200 OK\r\n\r\nto the end", 1, &got));
    cr_expect_eq(got.size, 10);
    free(got.body);
}

Test(http_get, all_else_is_refused)
{
    cm_http_got got;
    const char *const texts[] = {
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno end of the head",
        "SSH-2.0-x\r\n\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_not(get(texts[i], 1, &got), "%s", texts[i]);
        cr_expect_null(got.body);
    }
    cr_expect_not(get("HTTP/1.1 200 OK\r\n\r\nand on and on and on and on and on", 100000, &got));
    cr_expect_not(get("HTTP/1.1 200 OK\r\nA: and on and on and on", 1000, &got));
}

Test(http_get, addresses)
{
    cm_http_got got;
    char error[256];
    const char *const urls[] = {"https://127.0.0.1/x",   "http://127.0.0.1",  "http:///x",
                                "http://127.0.0.1:/x y", "http://[::1/x\r\n", "",
                                "http://127.0.0.1:1/x"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        cr_expect_not(cm_http_get(urls[i], MOST, &got, error, sizeof error), "%s", urls[i]);
        cr_expect_neq(error[0], '\0');
    }
}
