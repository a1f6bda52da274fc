// A pair of SOCK_SEQPACKET sockets: what was sent is read in the pieces in which it was sent, and
// what was sent by a process that died is read all the same.
#include "server/node/control_link.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/wire/crypto.h"

struct cm_worker_letter {
    cm_worker_letter *next;
    size_t size;
    int descriptor; // that goes with it; -1: none
    uint8_t bytes[];
};

bool cm_worker_link_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0;
}

void cm_worker_link_open(cm_worker_link *link, int descriptor)
{
    memset(link, 0, sizeof *link);
    link->descriptor = descriptor;
}

void cm_worker_link_join(cm_worker_link *one, cm_worker_link *other)
{
    cm_worker_link_open(one, -1);
    cm_worker_link_open(other, -1);
    one->is_local = other->is_local = true;
    one->peer = other;
    other->peer = one;
}

static void forget(cm_worker_link *link)
{
    cm_worker_letter *letter = link->first;
    link->first = letter->next;
    link->last = link->first != NULL ? link->last : NULL;
    link->waiting -= letter->size;
    if (letter->descriptor >= 0) {
        close(letter->descriptor);
    }
    cm_crypto_wipe(letter->bytes, letter->size); // some are keys
    free(letter);
}

void cm_worker_link_close(cm_worker_link *link)
{
    while (link->first != NULL) {
        forget(link);
    }
    if (link->descriptor >= 0) {
        close(link->descriptor);
        link->descriptor = -1;
    }
    if (link->peer != NULL) {
        link->peer->peer = NULL;
        link->peer = NULL;
    }
}

static bool is_line(uint32_t type)
{
    return type == CM_WORKER_SENDS_LOG || type == CM_WORKER_SENDS_PRINT ||
           type == CM_WORKER_SENDS_DRAW || type == CM_WORKER_SENDS_FAILED ||
           type == CM_WORKER_SENDS_ERROR || type == CM_WORKER_RECEIVES_DRAIN;
}

static bool is_metrics(uint32_t type)
{
    return type == CM_WORKER_SENDS_METRICS || type == CM_WORKER_SENDS_TOTALS;
}

static bool is_ask(uint32_t type)
{
    return type == CM_WORKER_SENDS_ANSWER || type == CM_WORKER_RECEIVES_ASK;
}

static bool is_room(uint32_t type)
{
    return type == CM_WORKER_SENDS_ROOM || type == CM_WORKER_SENDS_GONE ||
           type == CM_WORKER_RECEIVES_ROOM || type == CM_WORKER_RECEIVES_GONE ||
           type == CM_WORKER_RECEIVES_REFUSE || type == CM_WORKER_SENDS_OVER ||
           type == CM_WORKER_SENDS_RELEASED || type == CM_WORKER_SENDS_KEPT ||
           type == CM_WORKER_RECEIVES_SLOW || type == CM_WORKER_RECEIVES_RELEASE;
}

static size_t size_of(const cm_worker_message *message)
{
    if (is_line(message->type)) {
        return offsetof(cm_worker_message, line.text) + strlen(message->line.text) + 1;
    }
    if (is_ask(message->type)) {
        return offsetof(cm_worker_message, ask.text) + strlen(message->ask.text) + 1;
    }
    if (is_metrics(message->type)) {
        return offsetof(cm_worker_message, metrics.bytes) + message->metrics.size;
    }
    if (message->type == CM_WORKER_RECEIVES_PART) {
        return offsetof(cm_worker_message, part.bytes) + message->part.size;
    }
    if (is_room(message->type)) {
        return offsetof(cm_worker_message, room) + sizeof message->room;
    }
    switch (message->type) {
    case CM_WORKER_RECEIVES_BAN:
        return offsetof(cm_worker_message, ban.reason) + strlen(message->ban.reason) + 1;
    case CM_WORKER_RECEIVES_SOCKET:
        return offsetof(cm_worker_message, socket) + sizeof message->socket;
    case CM_WORKER_RECEIVES_KEYS:
        return offsetof(cm_worker_message, keys) + sizeof message->keys;
    case CM_WORKER_RECEIVES_PORTS:
        return offsetof(cm_worker_message, ports) + sizeof message->ports;
    case CM_WORKER_RECEIVES_TICKET:
        return offsetof(cm_worker_message, ticket) + sizeof message->ticket;
    case CM_WORKER_RECEIVES_OPEN:
        return offsetof(cm_worker_message, open) + sizeof message->open;
    case CM_WORKER_RECEIVES_MATCH:
    case CM_WORKER_RECEIVES_CUT:
    case CM_WORKER_SENDS_CUT:
        return offsetof(cm_worker_message, match) + sizeof message->match;
    default:
        return offsetof(cm_worker_message, used) + sizeof message->used; // the largest of the rest
    }
}

// True: it is sent, or never will be.
static bool send_bytes(const cm_worker_link *link, const void *bytes, size_t size, int descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *given = CMSG_FIRSTHDR(&message);
        given->cmsg_level = SOL_SOCKET;
        given->cmsg_type = SCM_RIGHTS;
        given->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(given), &descriptor, sizeof descriptor);
    }
    ssize_t sent;
    do {
        sent = sendmsg(link->descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

bool cm_worker_link_flush(cm_worker_link *link)
{
    if (link->is_local) {
        return link->peer != NULL;
    }
    while (link->first != NULL &&
           send_bytes(link, link->first->bytes, link->first->size, link->first->descriptor)) {
        forget(link);
    }
    return link->descriptor >= 0;
}

bool cm_worker_link_is_full(const cm_worker_link *link)
{
    return !link->is_local && link->first != NULL;
}

static bool keep(cm_worker_link *link, const cm_worker_message *message, size_t size,
                 int descriptor)
{
    bool needless = is_line(message->type) || is_metrics(message->type);
    bool full = needless && link->waiting + size > CM_WORKER_WAITING_MAX;
    cm_worker_letter *letter = full ? NULL : malloc(sizeof *letter + size);
    if (letter == NULL) {
        return false;
    }
    letter->next = NULL;
    letter->size = size;
    letter->descriptor = descriptor;
    memcpy(letter->bytes, message, size);
    if (link->last != NULL) {
        link->last->next = letter;
    } else {
        link->first = letter;
    }
    link->last = letter;
    link->waiting += size;
    return true;
}

void cm_worker_link_send(cm_worker_link *link, const cm_worker_message *message)
{
    size_t size = size_of(message);
    if (link->is_local) {
        link->left_out += link->peer != NULL && !keep(link->peer, message, size, -1);
        return;
    }
    if (link->descriptor < 0) {
        return;
    }
    cm_worker_link_flush(link);
    if (link->first != NULL || !send_bytes(link, message, size, -1)) {
        link->left_out += !keep(link, message, size, -1);
    }
}

// A close is no shutdown: the connection goes on with the copy of whoever got it.
void cm_worker_link_give(cm_worker_link *link, cm_worker_message *message, int descriptor)
{
    size_t size = size_of(message);
    message->socket.descriptor = link->is_local ? descriptor : -1;
    bool is_kept = link->is_local && link->peer != NULL && keep(link->peer, message, size, -1);
    if (!link->is_local && link->descriptor >= 0) {
        cm_worker_link_flush(link);
        bool waits = link->first != NULL || !send_bytes(link, message, size, descriptor);
        is_kept = waits && keep(link, message, size, descriptor);
    }
    if (!is_kept) {
        close(descriptor);
    }
}

void cm_worker_link_text(cm_worker_link *link, cm_worker_message_type type, uint32_t level,
                         const char *text)
{
    static cm_worker_message message; // large, and used by the process's one loop
    size_t length = strlen(text);
    message.type = type;
    message.line.level = level;
    length = length < sizeof message.line.text ? length : sizeof message.line.text - 1;
    memcpy(message.line.text, text, length);
    message.line.text[length] = '\0';
    cm_worker_link_send(link, &message);
}

void cm_worker_link_bytes(cm_worker_link *link, cm_worker_part what, const void *bytes, size_t size)
{
    static cm_worker_message message; // large, and used by the process's one loop
    for (size_t at = 0; at < size; at += message.part.size) {
        size_t left = size - at;
        message.type = CM_WORKER_RECEIVES_PART;
        message.part.what = what;
        message.part.total = size;
        message.part.size = (uint32_t)(left < CM_WORKER_TEXT_MAX ? left : CM_WORKER_TEXT_MAX);
        memcpy(message.part.bytes, (const uint8_t *)bytes + at, message.part.size);
        cm_worker_link_send(link, &message);
    }
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

// True if the bytes received are a message: of a type that there is, whole, and every text in it
// with an end.
static bool is_whole(const cm_worker_message *message, size_t size)
{
    if (size < offsetof(cm_worker_message, line) || message->type == 0 ||
        message->type >= CM_WORKER_MESSAGE_TYPES ||
        (is_metrics(message->type) && message->metrics.size > CM_WORKER_TEXT_MAX) ||
        (message->type == CM_WORKER_RECEIVES_PART &&
         (message->part.size > CM_WORKER_TEXT_MAX || message->part.what >= CM_WORKER_PARTS)) ||
        (is_line(message->type) && !is_text(message->line.text, sizeof message->line.text)) ||
        (is_ask(message->type) && !is_text(message->ask.text, sizeof message->ask.text)) ||
        (message->type == CM_WORKER_RECEIVES_BAN &&
         !is_text(message->ban.reason, sizeof message->ban.reason)) ||
        (message->type == CM_WORKER_RECEIVES_SOCKET &&
         !is_text(message->socket.accept, sizeof message->socket.accept))) {
        return false;
    }
    if (message->type == CM_WORKER_RECEIVES_OPEN &&
        (!is_text(message->open.name, sizeof message->open.name) ||
         !is_text(message->open.scene, sizeof message->open.scene))) {
        return false;
    }
    return size >= size_of(message) &&
           (!is_room(message->type) ||
            (is_text(message->room.name, sizeof message->room.name) &&
             is_text(message->room.scene, sizeof message->room.scene) &&
             is_text(message->room.module, sizeof message->room.module)));
}

static cm_worker_link_state next_local(cm_worker_link *link, cm_worker_message *message)
{
    if (link->first == NULL) {
        return link->peer != NULL ? CM_WORKER_LINK_EMPTY : CM_WORKER_LINK_ENDED;
    }
    memcpy(message, link->first->bytes, link->first->size);
    forget(link);
    return CM_WORKER_LINK_MESSAGE;
}

// One message, and the descriptor that came with it; -1: none.
static ssize_t receive_bytes(const cm_worker_link *link, cm_worker_message *to, int *descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {to, sizeof *to};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t got = recvmsg(link->descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *given = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (given != NULL && given->cmsg_type == SCM_RIGHTS) {
        memcpy(descriptor, CMSG_DATA(given), sizeof *descriptor);
    }
    return got;
}

cm_worker_link_state cm_worker_link_next(cm_worker_link *link, cm_worker_message *message)
{
    ssize_t got;
    memset(message, 0, sizeof *message); // so that every text has an end
    if (link->is_local) {
        return next_local(link, message);
    }
    if (link->descriptor < 0) {
        return CM_WORKER_LINK_ENDED;
    }
    int descriptor = -1;
    do {
        got = receive_bytes(link, message, &descriptor);
    } while (got < 0 && errno == EINTR);
    if (got > 0 && message->type == CM_WORKER_RECEIVES_SOCKET) {
        message->socket.descriptor = descriptor;
    } else if (descriptor >= 0) {
        close(descriptor); // of a message that has none
    }
    if (got > 0) {
        return is_whole(message, (size_t)got) ? CM_WORKER_LINK_MESSAGE : CM_WORKER_LINK_BROKEN;
    }
    return got < 0 && errno == EAGAIN ? CM_WORKER_LINK_EMPTY : CM_WORKER_LINK_ENDED;
}
