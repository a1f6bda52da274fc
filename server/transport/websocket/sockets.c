// One epoll, edge-triggered: a socket is readable and writable until the kernel says that it is
// not.
#include "server/transport/websocket/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define EVENTS        128u
#define INPUT_BYTES   4096u
#define READS_MAX     256u // of sockets, for one datagram: control frames give none
#define LOOK_US       250000u
#define STAND_IN_MASK 0x0fffffffu
#define NOT_SENT      16384 // bytes in the kernel from which on it takes no more

typedef enum state {
    OPEN,
    LINGERING, // its close was sent; what comes is thrown away
    OVER,
} state;

typedef struct datagram {
    uint16_t size;
    uint8_t bytes[CM_FRAMES_MESSAGE_MAX];
} datagram;

typedef struct web_socket {
    state state;
    int descriptor;
    bool readable, writable;
    uint32_t stand_in;
    uint64_t network;        // of its address
    uint64_t since_us;       // of the state
    uint64_t heard_us;       // its last message
    uint32_t turns;          // OVER: that it has been so
    uint32_t in_at, in_size; // of `input`, not read yet
    uint8_t input[INPUT_BYTES];
    cm_frames_reader reader;
    uint32_t out_at, out_size; // of a frame that went in part
    uint8_t out[CM_FRAMES_HEAD_MAX + CM_FRAMES_MESSAGE_MAX];
    bool owes_pong;
    uint32_t pong_size;
    uint8_t pong[CM_FRAMES_CONTROL_MAX];
    datagram *queue; // CM_SOCKETS_QUEUE; NULL: none ever waited
    uint32_t first, waiting;
} web_socket;

struct cm_sockets {
    cm_net_carrier carrier;
    int events;
    uint64_t now_us, look_us, timeout_us;
    uint32_t next;                              // whose turn to be received from comes first
    uint32_t high;                              // places ever used
    uint16_t by_stand_in[CM_STAND_INS_MAX + 1]; // place and one; 0: none
    web_socket *places[CM_SOCKETS_MAX];         // NULL: free
    cm_sockets_stats stats;
};

static web_socket *find(const cm_sockets *s, uint32_t stand_in)
{
    uint32_t number = ntohl(stand_in) & STAND_IN_MASK;
    uint32_t place = number <= CM_STAND_INS_MAX ? s->by_stand_in[number] : 0;
    return place > 0 ? s->places[place - 1] : NULL;
}

// Out --------------------------------------------------------------------------------------------

// False: the kernel takes no more now, or never will; then the event of its end comes.
static bool send_rest(web_socket *w)
{
    while (w->out_at < w->out_size) {
        ssize_t sent = send(w->descriptor, w->out + w->out_at, w->out_size - w->out_at,
                            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            w->writable = false;
            return false;
        }
        w->out_at += (uint32_t)sent;
    }
    return true;
}

// `out` is empty. What does not go at once stays in it.
static void send_frame(web_socket *w, uint8_t opcode, const uint8_t *bytes, size_t size)
{
    size_t head = cm_frames_head(w->out, opcode, size);
    if (size > 0) {
        memcpy(w->out + head, bytes, size);
    }
    w->out_at = 0;
    w->out_size = (uint32_t)(head + size);
    (void)send_rest(w);
}

static void send_waiting(web_socket *w)
{
    while (w->writable && send_rest(w) && (w->owes_pong || w->waiting > 0)) {
        if (w->owes_pong) {
            w->owes_pong = false;
            send_frame(w, CM_FRAMES_PONG, w->pong, w->pong_size);
        } else {
            const datagram *oldest = &w->queue[w->first];
            w->first = (w->first + 1) % CM_SOCKETS_QUEUE;
            w->waiting--;
            send_frame(w, CM_FRAMES_BINARY, oldest->bytes, oldest->size);
        }
    }
}

static void enqueue(cm_sockets *s, web_socket *w, const uint8_t *bytes, size_t size)
{
    w->queue = w->queue != NULL ? w->queue : calloc(CM_SOCKETS_QUEUE, sizeof *w->queue);
    if (w->queue == NULL) {
        s->stats.dropped++;
        return;
    }
    if (w->waiting == CM_SOCKETS_QUEUE) {
        w->first = (w->first + 1) % CM_SOCKETS_QUEUE;
        w->waiting--;
        s->stats.dropped++;
    }
    datagram *last = &w->queue[(w->first + w->waiting++) % CM_SOCKETS_QUEUE];
    last->size = (uint16_t)size;
    memcpy(last->bytes, bytes, size);
}

static void carry(void *owner, uint32_t stand_in, const uint8_t *bytes, size_t size)
{
    cm_sockets *s = owner;
    web_socket *w = find(s, stand_in);
    if (w == NULL || w->state != OPEN || size == 0 || size > CM_FRAMES_MESSAGE_MAX) {
        return;
    }
    s->stats.sent++;
    enqueue(s, w, bytes, size);
    send_waiting(w);
}

// Ends -------------------------------------------------------------------------------------------

static void enter(cm_sockets *s, web_socket *w, state to)
{
    s->stats.open -= w->state == OPEN;
    w->state = to;
    w->since_us = s->now_us;
    w->turns = 0;
}

static void finish(cm_sockets *s, web_socket *w)
{
    enter(s, w, OVER);
    // The supervisor may not have closed its copy yet, so a close alone would leave its events
    // here.
    (void)epoll_ctl(s->events, EPOLL_CTL_DEL, w->descriptor, NULL);
    close(w->descriptor);
    w->descriptor = -1;
}

// Says why and goes on reading, since unread bytes at the close would discard what was said.
static void close_with(cm_sockets *s, web_socket *w, uint16_t code)
{
    const uint8_t bytes[2] = {(uint8_t)(code >> 8), (uint8_t)code};
    w->waiting = 0;
    w->owes_pong = false;
    if (send_rest(w)) {
        send_frame(w, CM_FRAMES_CLOSED, bytes, code != 0 ? sizeof bytes : 0);
    }
    (void)shutdown(w->descriptor, SHUT_WR);
    enter(s, w, LINGERING);
}

static void end(cm_sockets *s, web_socket *w, cm_socket_end why)
{
#define CODE(name, code, text) code,
    static const uint16_t codes[] = {CM_SOCKET_ENDS(CODE)};
#undef CODE
    s->stats.ends[why]++;
    if (why == CM_SOCKET_GONE) {
        finish(s, w);
    } else {
        close_with(s, w, codes[why]);
    }
}

static void release(cm_sockets *s, uint32_t place)
{
    web_socket *w = s->places[place];
    s->by_stand_in[ntohl(w->stand_in) & STAND_IN_MASK] = 0;
    cm_net_stand_in_free(w->stand_in);
    free(w->queue);
    free(w);
    s->places[place] = NULL;
}

// In ---------------------------------------------------------------------------------------------

// Bytes into an empty `input`. False: nothing is there now, or it is over.
static bool fill(cm_sockets *s, web_socket *w)
{
    ssize_t got;
    do {
        got = recv(w->descriptor, w->input, sizeof w->input, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        w->readable = false;
        return false;
    }
    if (got <= 0) {
        end(s, w, CM_SOCKET_GONE);
        return false;
    }
    w->in_at = 0;
    w->in_size = (uint32_t)got;
    return true;
}

static void take_ping(web_socket *w)
{
    w->owes_pong = true;
    w->pong_size = w->reader.control_size;
    memcpy(w->pong, w->reader.control, w->pong_size);
    send_waiting(w);
}

// Reads until a message is whole; 0: none is.
static size_t read_one(cm_sockets *s, web_socket *w, uint8_t *bytes, size_t space)
{
    size_t taken = 0;
    while (w->state == OPEN && (w->in_at < w->in_size || (w->readable && fill(s, w)))) {
        cm_frames_event event =
            cm_frames_read(&w->reader, w->input + w->in_at, w->in_size - w->in_at, &taken);
        w->in_at += (uint32_t)taken;
        switch (event) {
        case CM_FRAMES_MESSAGE:
            w->heard_us = s->now_us;
            s->stats.received++;
            if (w->reader.size <= space) {
                memcpy(bytes, w->reader.message, w->reader.size);
                return w->reader.size;
            }
            break;
        case CM_FRAMES_PING:
            take_ping(w);
            break;
        case CM_FRAMES_CLOSE:
            end(s, w, CM_SOCKET_CLOSED);
            break;
        case CM_FRAMES_REFUSED:
            s->stats.refusals[w->reader.reason]++;
            close_with(s, w, cm_frame_reason_code(w->reader.reason));
            break;
        case CM_FRAMES_MORE:
            return 0; // one reading of it: others have their turn
        }
    }
    return 0;
}

static bool has_input(const web_socket *w)
{
    return w != NULL && w->state == OPEN && (w->in_at < w->in_size || w->readable);
}

static size_t receive(void *owner, uint32_t *stand_in, uint8_t *bytes, size_t space)
{
    cm_sockets *s = owner;
    for (uint32_t i = 0, reads = 0; i < s->high && reads < READS_MAX; i++) {
        uint32_t place = s->next < s->high ? s->next : 0;
        web_socket *w = s->places[place];
        s->next = place + 1;
        if (has_input(w)) {
            size_t size = read_one(s, w, bytes, space);
            reads++;
            if (size > 0) {
                *stand_in = w->stand_in;
                return size;
            }
        }
    }
    return 0;
}

bool cm_sockets_is_ready(const cm_sockets *s)
{
    bool ready = false;
    for (uint32_t i = 0; s != NULL && i < s->high && !ready; i++) {
        ready = has_input(s->places[i]);
    }
    return ready;
}

static bool ready(void *owner)
{
    return cm_sockets_is_ready(owner);
}

static bool is_open(void *owner, uint32_t stand_in)
{
    const web_socket *w = find(owner, stand_in);
    return w != NULL && w->state == OPEN;
}

// Life -------------------------------------------------------------------------------------------

cm_sockets *cm_sockets_create(uint32_t timeout_ms)
{
    cm_sockets *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->timeout_us = (uint64_t)timeout_ms * 1000;
    s->carrier = (cm_net_carrier){
        .owner = s, .send = carry, .receive = receive, .ready = ready, .is_open = is_open};
    s->events = epoll_create1(EPOLL_CLOEXEC);
    if (s->events < 0) {
        free(s);
        return NULL;
    }
    return s;
}

void cm_sockets_destroy(cm_sockets *s)
{
    if (s == NULL) {
        return;
    }
    for (uint32_t i = 0; i < s->high; i++) {
        web_socket *w = s->places[i];
        if (w != NULL && w->state == OPEN) {
            end(s, w, CM_SOCKET_SERVER);
        }
        if (w != NULL && w->descriptor >= 0) {
            finish(s, w);
        }
        if (w != NULL) {
            release(s, i);
        }
    }
    close(s->events);
    free(s);
}

// The place for one more of that address; CM_SOCKETS_MAX: there is none.
static uint32_t find_place(const cm_sockets *s, const cm_address *from)
{
    uint32_t place = CM_SOCKETS_MAX, same = 0;
    uint64_t network = cm_address_network(from->ip);
    for (uint32_t i = 0; i < CM_SOCKETS_MAX && (i <= s->high || place == CM_SOCKETS_MAX); i++) {
        const web_socket *w = s->places[i];
        place = w == NULL && place == CM_SOCKETS_MAX ? i : place;
        same += w != NULL && w->network == network;
    }
    bool many = same >= CM_SOCKETS_ADDRESS_MAX && !cm_address_is_loopback(from->ip);
    return many ? CM_SOCKETS_MAX : place;
}

static void set_options(int descriptor)
{
    int one = 1, buffer = CM_SOCKETS_SEND_BUFFER, not_sent = NOT_SENT;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &not_sent, sizeof not_sent);
}

static void turn_away(cm_sockets *s, int descriptor)
{
    static const char FULL[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                               "Cache-Control: no-store\r\nConnection: close\r\n\r\n";
    (void)!send(descriptor, FULL, sizeof FULL - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(descriptor);
    s->stats.refused++;
}

bool cm_sockets_add(cm_sockets *s, int descriptor, const cm_address *from, const char *accept,
                    uint64_t now_us)
{
    char answer[CM_UPGRADE_ANSWER_MAX];
    uint32_t place = find_place(s, from);
    web_socket *w = place < CM_SOCKETS_MAX ? calloc(1, sizeof *w) : NULL;
    uint32_t stand_in = w != NULL ? cm_net_stand_in_carried(from) : 0;
    size_t size = cm_upgrade_answer(accept, answer);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = w};
    // An empty socket takes so little whole.
    if (stand_in == 0 || epoll_ctl(s->events, EPOLL_CTL_ADD, descriptor, &event) != 0 ||
        send(descriptor, answer, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size) {
        cm_net_stand_in_free(stand_in);
        (void)epoll_ctl(s->events, EPOLL_CTL_DEL, descriptor, NULL);
        free(w);
        turn_away(s, descriptor);
        return false;
    }
    set_options(descriptor);
    w->state = OPEN;
    w->descriptor = descriptor;
    w->readable = w->writable = true;
    w->stand_in = stand_in;
    w->network = cm_address_network(from->ip);
    w->since_us = w->heard_us = now_us;
    s->places[place] = w;
    s->by_stand_in[ntohl(stand_in) & STAND_IN_MASK] = (uint16_t)(place + 1);
    s->high = place >= s->high ? place + 1 : s->high;
    s->stats.added++;
    s->stats.open++;
    return true;
}

static void take_events(cm_sockets *s)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(s->events, events, EVENTS, 0);
    for (int i = 0; i < count; i++) {
        web_socket *w = events[i].data.ptr;
        w->readable = w->readable || (events[i].events & ~(uint32_t)EPOLLOUT) != 0;
        if ((events[i].events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0 && w->state == OPEN) {
            w->writable = true;
            send_waiting(w);
        }
    }
}

static void linger(cm_sockets *s, web_socket *w)
{
    ssize_t got = w->readable ? recv(w->descriptor, w->input, sizeof w->input, MSG_DONTWAIT) : -1;
    bool is_over = got == 0 || (got < 0 && w->readable && errno != EAGAIN && errno != EINTR);
    w->readable = got > 0;
    if (is_over || s->now_us - w->since_us >= CM_SOCKETS_LINGER_US) {
        finish(s, w);
    }
}

static void look(cm_sockets *s)
{
    bool due = s->now_us >= s->look_us;
    s->look_us = due ? s->now_us + LOOK_US : s->look_us;
    for (uint32_t i = 0; i < s->high; i++) {
        web_socket *w = s->places[i];
        if (w == NULL) {
            continue;
        }
        if (w->state == LINGERING) {
            linger(s, w);
        } else if (w->state == OVER && w->turns++ > 0) {
            release(s, i);
        } else if (due && w->state == OPEN && s->now_us - w->heard_us > s->timeout_us) {
            end(s, w, CM_SOCKET_SILENT);
        }
    }
    while (s->high > 0 && s->places[s->high - 1] == NULL) {
        s->high--;
    }
}

void cm_sockets_turn(cm_sockets *s, uint64_t now_us)
{
    if (s != NULL) {
        s->now_us = now_us;
        take_events(s);
        look(s);
    }
}

int cm_sockets_descriptor(const cm_sockets *s)
{
    return s != NULL ? s->events : -1;
}

const cm_net_carrier *cm_sockets_carrier(cm_sockets *s)
{
    return &s->carrier;
}

void cm_sockets_stats_get(const cm_sockets *s, cm_sockets_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    if (s != NULL) {
        *stats = s->stats;
    }
}
