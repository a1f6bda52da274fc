// HTTP/1.0, so that no answer comes in pieces: its body ends with the connection.
#include "server/cli/http_get.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define SCHEME   "http://"
#define HEAD_MAX 16384u
#define FIRST    65536u
#define HOST_MAX 256u
#define URL_MAX  2048u

static bool wrong(char *error, size_t size, const char *url, const char *what)
{
    snprintf(error, size, "%.200s: %s", url, what);
    return false;
}

typedef struct place {
    char host[HOST_MAX], port[8];
    const char *path;
} place;

// [::1]:80/x, a.example/x
static bool read_url(const char *url, place *to)
{
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0 || strlen(url) > URL_MAX) {
        return false;
    }
    const char *host = url + strlen(SCHEME), *path = strchr(host, '/');
    for (const char *at = url; *at != '\0'; at++) {
        if ((unsigned char)*at <= 32 || (unsigned char)*at >= 127) {
            return false;
        }
    }
    if (path == NULL) {
        return false;
    }
    const char *end = path, *colon = path;
    while (colon > host && colon[-1] >= '0' && colon[-1] <= '9') {
        colon--;
    }
    snprintf(to->port, sizeof to->port, "80");
    if (colon > host + 1 && colon[-1] == ':' && path - colon >= 1 && path - colon <= 5) {
        snprintf(to->port, sizeof to->port, "%.*s", (int)(path - colon), colon);
        end = colon - 1;
    }
    if (*host == '[' && end[-1] == ']') {
        host++;
        end--;
    }
    to->path = path;
    snprintf(to->host, sizeof to->host, "%.*s", (int)(end - host), host);
    return end > host && (size_t)(end - host) < sizeof to->host;
}

static int dial(const place *to)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    const struct timeval patience = {.tv_sec = CM_HTTP_GET_S};
    int descriptor = -1;
    if (getaddrinfo(to->host, to->port, &hints, &found) != 0) {
        errno = EHOSTUNREACH;
        return -1;
    }
    for (const struct addrinfo *at = found; at != NULL && descriptor < 0; at = at->ai_next) {
        descriptor = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
        if (descriptor >= 0) {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
            if (connect(descriptor, at->ai_addr, at->ai_addrlen) != 0) {
                close(descriptor);
                descriptor = -1;
            }
        }
    }
    freeaddrinfo(found);
    return descriptor;
}

static bool send_request(int descriptor, const place *to)
{
    char request[URL_MAX + HOST_MAX + 64];
    bool six = strchr(to->host, ':') != NULL;
    int size = snprintf(request, sizeof request,
                        "GET %s HTTP/1.0\r\nHost: %s%s%s:%s\r\nConnection: close\r\n\r\n", to->path,
                        six ? "[" : "", to->host, six ? "]" : "", to->port);
    for (int at = 0; at < size;) {
        ssize_t sent = send(descriptor, request + at, (size_t)(size - at), MSG_NOSIGNAL);
        if (sent <= 0 && errno != EINTR) {
            return false;
        }
        at += sent > 0 ? (int)sent : 0;
    }
    return true;
}

// All that comes until the end, at most `most`; with a NUL behind it. NULL: it does not.
static char *receive(int descriptor, size_t most, size_t *size)
{
    size_t capacity = FIRST;
    char *bytes = malloc(capacity + 1);
    *size = 0;
    while (bytes != NULL) {
        ssize_t got = recv(descriptor, bytes + *size, capacity - *size, 0);
        if (got == 0) {
            bytes[*size] = '\0';
            return bytes;
        }
        if (got < 0 && errno != EINTR) {
            break;
        }
        *size += got > 0 ? (size_t)got : 0;
        if (*size == capacity) {
            char *grown = *size < most ? realloc(bytes, 2 * capacity + 1) : NULL;
            if (grown == NULL) {
                break;
            }
            bytes = grown;
            capacity *= 2;
        }
    }
    free(bytes);
    return NULL;
}

// True if the head tells no other length than this.
static bool agrees(const char *head, size_t size)
{
    static const char name[] = "\nContent-Length:";
    const char *at = strcasestr(head, name);
    return at == NULL || strtoull(at + strlen(name), NULL, 10) == size;
}

// Takes the answer apart; the body moves to the front of its bytes, which become the caller's.
static bool take_answer(char *bytes, size_t size, cm_http_got *got)
{
    char *end = strstr(bytes, "\r\n\r\n");
    if (strncmp(bytes, "HTTP/1.", 7) != 0 || size < 12 || end == NULL ||
        (size_t)(end - bytes) > HEAD_MAX) {
        return false;
    }
    *end = '\0';
    got->status = (uint32_t)strtoul(bytes + 9, NULL, 10);
    got->size = size - (size_t)(end + 4 - bytes);
    bool whole = agrees(bytes, got->size);
    memmove(bytes, end + 4, got->size);
    got->body = (uint8_t *)bytes;
    return whole;
}

bool cm_http_get(const char *url, size_t most, cm_http_got *got, char *error, size_t error_size)
{
    place to;
    size_t size;
    memset(got, 0, sizeof *got);
    if (!read_url(url, &to)) {
        return wrong(error, error_size, url, "expected http://HOST:PORT/PATH");
    }
    int descriptor = dial(&to);
    if (descriptor < 0) {
        return wrong(error, error_size, url, strerror(errno));
    }
    char *bytes =
        send_request(descriptor, &to) ? receive(descriptor, most + HEAD_MAX, &size) : NULL;
    close(descriptor);
    if (bytes == NULL || !take_answer(bytes, size, got)) {
        free(bytes);
        got->body = NULL;
        return wrong(error, error_size, url, "no whole answer came, or one above the limit");
    }
    return true;
}
