// The socket, its connections, and the buffers of each. Typical: one connection at a time, of some
// hundred bytes.
#include "server/ops/admin_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(CM_ADMIN_PATH_MAX <= sizeof((struct sockaddr_un *)0)->sun_path, "a path fits");

#define CUT "{\"error\":\"the answer is too long, the rest is left out\"}"

struct cm_admin_reply {
    char *bytes;
    size_t size, capacity;
    bool cut;
    uint64_t later;                                  // number of one that comes later; 0: none
    uint64_t number;                                 // that it will have; 0: of cm_admin_later
    void (*line)(void *user, const char *json_line); // where lines go at once; NULL: they wait
    void *user;
};

typedef struct peer {
    int descriptor; // -1: free
    uint64_t since_us;
    size_t asked; // bytes of the request so far
    char request[CM_ADMIN_REQUEST_MAX];
    cm_admin_reply reply;
    size_t sent;
    bool answered;
} peer;

struct cm_admin {
    cm_admin_def def;
    char path[CM_ADMIN_PATH_MAX];
    int listener, events;
    bool full; // no place is free: the listener is not looked at
    peer peers[CM_ADMIN_PEERS_MAX];
};

void cm_admin_write_line(cm_admin_reply *reply, const char *json_line)
{
    size_t length = strlen(json_line) + 1, needed = reply->size + length;
    if (reply->line != NULL) {
        reply->line(reply->user, json_line);
        return;
    }
    if (reply->cut) {
        return;
    }
    if (needed > CM_ADMIN_REPLY_MAX - sizeof CUT - 1 && length > 1) {
        reply->cut = true;
        json_line = CUT;
        length = sizeof CUT;
        needed = reply->size + length;
    }
    if (needed > reply->capacity) {
        size_t capacity = needed * 2 < CM_ADMIN_REPLY_MAX ? needed * 2 : CM_ADMIN_REPLY_MAX;
        char *more = realloc(reply->bytes, capacity);
        if (more == NULL) {
            reply->cut = true;
            return;
        }
        reply->bytes = more;
        reply->capacity = capacity;
    }
    memcpy(reply->bytes + reply->size, json_line, length - 1);
    reply->bytes[needed - 1] = '\n';
    reply->size = needed;
}

bool cm_admin_answer(const cm_admin_def *def, const char *request, uint64_t number,
                     void (*line)(void *user, const char *json_line), void *user)
{
    cm_admin_reply reply = {.line = line, .user = user, .number = number};
    def->answer(def->user, request, &reply);
    return reply.later == 0;
}

uint64_t cm_admin_number(const cm_admin_reply *reply)
{
    return reply->number;
}

uint64_t cm_admin_later(cm_admin_reply *reply)
{
    static uint64_t numbers; // of all answers of the process: none comes twice
    reply->later = reply->number != 0 ? reply->number : ++numbers;
    return reply->later;
}

// Making ---------------------------------------------------------------------------------------

static bool address_of(const char *path, struct sockaddr_un *address, char *error,
                       size_t error_size)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (path[0] == '\0' || strlen(path) >= CM_ADMIN_PATH_MAX) {
        snprintf(error, error_size, "%s: expected a path of 1 to %u bytes", path,
                 CM_ADMIN_PATH_MAX - 1);
        return false;
    }
    memcpy(address->sun_path, path, strlen(path));
    return true;
}

// True if no server answers at the address; `*left`: a killed server left its socket there.
static bool is_free(const struct sockaddr_un *address, bool *left, char *error, size_t error_size)
{
    struct stat there;
    *left = false;
    if (lstat(address->sun_path, &there) != 0) {
        return true;
    }
    if (!S_ISSOCK(there.st_mode)) {
        snprintf(error, error_size, "%s: there is something that is no socket", address->sun_path);
        return false;
    }
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *left = probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 &&
            errno == ECONNREFUSED;
    if (probe >= 0) {
        close(probe);
    }
    if (!*left) {
        snprintf(error, error_size, "%s: another server answers there", address->sun_path);
    }
    return *left;
}

bool cm_admin_check(const char *path, char *error, size_t error_size)
{
    struct sockaddr_un address;
    bool left;
    return address_of(path, &address, error, error_size) &&
           is_free(&address, &left, error, error_size);
}

static bool make_way(const struct sockaddr_un *address, char *error, size_t error_size)
{
    bool left;
    if (!is_free(address, &left, error, error_size)) {
        return false;
    }
    if (left && unlink(address->sun_path) != 0) {
        snprintf(error, error_size, "%s: %s", address->sun_path, strerror(errno));
        return false;
    }
    return true;
}

// Nobody may connect between bind and listen, and the mode is right from the first moment.
static int listen_at(const struct sockaddr_un *address)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before = umask(0117);
    bool good = listener >= 0 &&
                bind(listener, (const struct sockaddr *)address, sizeof *address) == 0 &&
                listen(listener, CM_ADMIN_PEERS_MAX) == 0;
    int cause = errno;
    umask(before);
    if (!good && listener >= 0) {
        close(listener);
        listener = -1;
    }
    errno = cause;
    return listener;
}

cm_admin *cm_admin_create(const cm_admin_def *def, char *error, size_t error_size)
{
    struct sockaddr_un address;
    if (!address_of(def->path, &address, error, error_size) ||
        !make_way(&address, error, error_size)) {
        return NULL;
    }
    cm_admin *admin = calloc(1, sizeof *admin);
    if (admin == NULL) {
        snprintf(error, error_size, "out of memory");
        return NULL;
    }
    admin->def = *def;
    admin->listener = listen_at(&address);
    if (admin->listener >= 0) {
        memcpy(admin->path, address.sun_path, sizeof admin->path);
    }
    admin->events = admin->listener >= 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
    struct epoll_event event = {.events = EPOLLIN};
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        admin->peers[i].descriptor = -1;
    }
    if (admin->events < 0 ||
        epoll_ctl(admin->events, EPOLL_CTL_ADD, admin->listener, &event) != 0) {
        snprintf(error, error_size, "%s: %s", def->path, strerror(errno));
        cm_admin_destroy(admin);
        return NULL;
    }
    return admin;
}

static void drop(cm_admin *admin, peer *p)
{
    if (p->descriptor >= 0) {
        (void)epoll_ctl(admin->events, EPOLL_CTL_DEL, p->descriptor, NULL);
        close(p->descriptor);
    }
    free(p->reply.bytes);
    memset(p, 0, sizeof *p);
    p->descriptor = -1;
}

void cm_admin_destroy(cm_admin *admin)
{
    if (admin == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        drop(admin, &admin->peers[i]);
    }
    if (admin->listener >= 0) {
        close(admin->listener);
        unlink(admin->path);
    }
    if (admin->events >= 0) {
        close(admin->events);
    }
    free(admin);
}

int cm_admin_descriptor(const cm_admin *admin)
{
    return admin != NULL ? admin->events : -1;
}

// A turn ---------------------------------------------------------------------------------------

static void accept_some(cm_admin *admin, uint64_t now_us)
{
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        peer *p = &admin->peers[i];
        if (p->descriptor >= 0) {
            continue;
        }
        p->descriptor = accept4(admin->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (p->descriptor < 0) {
            return;
        }
        p->since_us = now_us;
        struct epoll_event event = {.events = EPOLLIN};
        if (epoll_ctl(admin->events, EPOLL_CTL_ADD, p->descriptor, &event) != 0) {
            drop(admin, p);
        }
    }
}

// Removes the listener from epoll while all places are taken: a waiting client would otherwise wake
// the loop at once, in every turn.
static void watch_listener(cm_admin *admin)
{
    bool full = true;
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        full = full && admin->peers[i].descriptor >= 0;
    }
    struct epoll_event event = {.events = EPOLLIN};
    if (full != admin->full && epoll_ctl(admin->events, full ? EPOLL_CTL_DEL : EPOLL_CTL_ADD,
                                         admin->listener, &event) == 0) {
        admin->full = full;
    }
}

static bool end_answer(cm_admin *admin, peer *p)
{
    p->reply.cut = false;
    p->reply.later = 0;
    cm_admin_write_line(&p->reply, ""); // the end mark of an answer
    p->answered = true;
    struct epoll_event event = {.events = EPOLLOUT};
    return epoll_ctl(admin->events, EPOLL_CTL_MOD, p->descriptor, &event) == 0;
}

// A whole line answers at once, or later; the connection then waits only for its answer to be read.
static bool read_some(cm_admin *admin, peer *p)
{
    ssize_t got = read(p->descriptor, p->request + p->asked, sizeof p->request - p->asked);
    if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    p->asked += (size_t)got;
    char *end = memchr(p->request, '\n', p->asked);
    if (end == NULL && p->asked < sizeof p->request) {
        return true;
    }
    if (end == NULL) {
        cm_admin_write_line(&p->reply, "{\"error\":\"the request is too long\"}");
    } else {
        *end = '\0';
        admin->def.answer(admin->def.user, p->request, &p->reply);
    }
    struct epoll_event silent = {.events = 0};
    return p->reply.later == 0
               ? end_answer(admin, p)
               : epoll_ctl(admin->events, EPOLL_CTL_MOD, p->descriptor, &silent) == 0;
}

static peer *find_later(cm_admin *admin, uint64_t number)
{
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        peer *p = &admin->peers[i];
        if (p->descriptor >= 0 && p->reply.later == number && number != 0) {
            return p;
        }
    }
    return NULL;
}

cm_admin_reply *cm_admin_find(cm_admin *admin, uint64_t number)
{
    peer *p = admin != NULL ? find_later(admin, number) : NULL;
    return p != NULL ? &p->reply : NULL;
}

void cm_admin_done(cm_admin *admin, uint64_t number)
{
    peer *p = admin != NULL ? find_later(admin, number) : NULL;
    if (p != NULL && !end_answer(admin, p)) {
        drop(admin, p);
    }
}

// False once all is sent, or the peer is gone.
static bool write_some(peer *p)
{
    while (p->sent < p->reply.size) {
        ssize_t sent =
            send(p->descriptor, p->reply.bytes + p->sent, p->reply.size - p->sent, MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        p->sent += (size_t)sent;
    }
    return false;
}

void cm_admin_turn(cm_admin *admin, uint64_t now_us)
{
    if (admin == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        peer *p = &admin->peers[i];
        if (p->descriptor < 0) {
            continue;
        }
        p->since_us = p->reply.later != 0 ? now_us : p->since_us; // it is we who are slow
        bool stays = now_us - p->since_us < CM_ADMIN_PATIENCE_US;
        char gone;
        if (stays && p->reply.later != 0) {
            stays = recv(p->descriptor, &gone, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
        } else if (stays && !p->answered) {
            stays = read_some(admin, p);
        }
        if (stays && p->answered) {
            stays = write_some(p);
        }
        if (!stays) {
            drop(admin, p);
        }
    }
    accept_some(admin, now_us);
    watch_listener(admin);
}

// The other end --------------------------------------------------------------------------------

static bool send_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(descriptor, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool cm_admin_ask(const char *path, const char *request, void (*line)(void *user, const char *json),
                  void *user, char *error, size_t error_size)
{
    struct sockaddr_un address;
    if (!address_of(path, &address, error, error_size)) {
        return false;
    }
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 ||
        connect(descriptor, (const struct sockaddr *)&address, sizeof address) != 0) {
        snprintf(error, error_size,
                 "%s: %s, expected the socket of a running server, which --admin SOCKET names",
                 path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
        return false;
    }
    FILE *answer = NULL;
    bool good = send_all(descriptor, request, strlen(request)) && send_all(descriptor, "\n", 1) &&
                (answer = fdopen(descriptor, "r")) != NULL;
    char *text = NULL;
    size_t capacity = 0;
    bool whole = false;
    ssize_t length;
    while (good && (length = getline(&text, &capacity, answer)) > 0) {
        text[length - (text[length - 1] == '\n')] = '\0';
        whole = text[0] == '\0';
        if (!whole) {
            line(user, text);
        }
    }
    free(text);
    if (answer != NULL) {
        fclose(answer);
    } else {
        close(descriptor);
    }
    if (!whole) {
        snprintf(error, error_size, "%s: the server gave no whole answer", path);
    }
    return whole;
}
