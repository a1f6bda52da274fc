// Kernel UDP sockets under ENet, as Carom wants them: never blocking, a send that cannot fail the
// loop over peers, and, where asked, a seeded link in process (this kernel has no netem).
//
// Invariants: a socket here is the kernel's descriptor. Without a link nothing is queued or copied.
// With one, a sent datagram waits in `outbound` and a received one in its socket's queue until due;
// every call pumps both, and cm_net_next_due tells a loop when to call again.
// Typical: 3.8 us for a send, 30 sends a second for each client.
#include "shared/net/net_impl.h"

#include "shared/transport/socket_address.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RECEIVE_BUFFER_MAX (4 << 20)
#define INBOUND_BYTES_MAX  ((size_t)8 << 20) // of a socket, waiting in a link
#define BUFFERS_MAX        80                // ENet sends at most 65

uint64_t cm_kernel_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

// The queue of what a socket received through the link; NULL: no memory. One of 0 bytes at most is
// of no socket.
static cm_datagram_queue *inbound_of(cm_net *net, int socket_fd)
{
    size_t place = (size_t)socket_fd;
    if (place >= net->inbound_count) {
        size_t count = place + 16;
        cm_datagram_queue *queues = realloc(net->inbound, count * sizeof *queues);
        if (queues == NULL) {
            return NULL;
        }
        for (size_t i = net->inbound_count; i < count; i++) {
            queues[i] = (cm_datagram_queue){.bytes_max = 0};
        }
        net->inbound = queues;
        net->inbound_count = count;
    }
    net->inbound[place].bytes_max = INBOUND_BYTES_MAX;
    return &net->inbound[place];
}

int cm_kernel_socket_create(cm_net *net)
{
    int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_fd >= 0) {
        net->last_socket = socket_fd;
    }
    if (socket_fd >= 0 && net->has_link) {
        (void)inbound_of(net, socket_fd); // without memory it hears nothing
    }
    return socket_fd;
}

void cm_kernel_receive_buffer(int socket_fd, int size)
{
    int want = size < RECEIVE_BUFFER_MAX ? size : RECEIVE_BUFFER_MAX;
    if (setsockopt(socket_fd, SOL_SOCKET, SO_RCVBUFFORCE, &want, sizeof want) != 0) {
        (void)setsockopt(socket_fd, SOL_SOCKET, SO_RCVBUF, &want, sizeof want);
    }
}

// ENet makes its socket before it says where it is to listen. On an IPv6 address another one takes
// its descriptor; on [::] that one hears IPv4 too, whose addresses then come as ::ffff:a.b.c.d.
static bool make_ipv6(int socket_fd)
{
    int both = 0, made = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool good = made >= 0 && setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both) == 0 &&
                dup3(made, socket_fd, O_CLOEXEC) == socket_fd;
    if (made >= 0) {
        close(made);
    }
    return good;
}

int cm_kernel_socket_bind(int socket_fd, const cm_address *address)
{
    struct sockaddr_storage in;
    socklen_t size = cm_socket_address_write(address, &in);
    if (in.ss_family == AF_INET6 && !make_ipv6(socket_fd)) {
        return -1;
    }
    return bind(socket_fd, (struct sockaddr *)&in, size);
}

int cm_kernel_socket_address(int socket_fd, cm_address *address)
{
    struct sockaddr_storage in;
    socklen_t size = sizeof in;
    memset(&in, 0, sizeof in);
    bool known = getsockname(socket_fd, (struct sockaddr *)&in, &size) == 0 &&
                 cm_socket_address_read(&in, address);
    return known ? 0 : -1;
}

static void send_now(cm_net *net, int socket_fd, const cm_address *to, struct iovec *parts,
                     size_t count)
{
    struct sockaddr_storage address;
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_name = &address;
    message.msg_namelen = cm_socket_address_write(to, &address);
    message.msg_iov = parts;
    message.msg_iovlen = count;
    // A full socket, no route, a filter: this datagram is lost, as any may be; the next peer's
    // goes.
    if (sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0) {
        net->stats.send_errors++;
    }
}

static void enqueue(cm_net *net, cm_datagram_queue *queue, const cm_datagram *datagram,
                    const uint8_t *bytes)
{
    cm_link_fate fate = cm_link_draw(&net->link, &net->rng);
    if (fate.copies == 0) {
        net->stats.lost++;
        return;
    }
    net->stats.duplicated += fate.copies - 1;
    uint64_t now = cm_kernel_now_us();
    for (uint32_t i = 0; i < fate.copies; i++) {
        cm_datagram copy = *datagram;
        copy.due_us = now + fate.delay_us[i];
        copy.number = net->number++;
        if (!cm_datagram_push(queue, &copy, bytes)) {
            net->stats.lost++;
        }
    }
}

static void send_first(cm_net *net)
{
    cm_datagram datagram = cm_datagram_pop(&net->outbound);
    struct iovec part = {datagram.bytes, datagram.size};
    send_now(net, datagram.socket, &datagram.other, &part, 1);
    free(datagram.bytes);
}

void cm_kernel_pump(cm_net *net)
{
    while (net->outbound.count > 0 && net->outbound.items[0].due_us <= cm_kernel_now_us()) {
        send_first(net);
    }
}

int cm_kernel_socket_send(cm_net *net, int socket_fd, const cm_address *to,
                          const cm_net_buffer *buffers, size_t count)
{
    struct iovec parts[BUFFERS_MAX];
    size_t size = 0;
    if (count > BUFFERS_MAX) {
        net->stats.send_errors++;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        parts[i].iov_base = (void *)(uintptr_t)buffers[i].data;
        parts[i].iov_len = buffers[i].size;
        size += buffers[i].size;
    }
    if (size > CM_UDP_MAX) {
        net->stats.send_errors++;
        return 0;
    }
    net->stats.sent++;
    net->stats.bytes_sent += size;
    if (net->has_link) {
        uint8_t bytes[CM_UDP_MAX];
        cm_net_gather(buffers, count, bytes, sizeof bytes);
        cm_datagram datagram = {.socket = socket_fd, .other = *to, .size = (uint32_t)size};
        enqueue(net, &net->outbound, &datagram, bytes);
        cm_kernel_pump(net);
    } else {
        send_now(net, socket_fd, to, parts, count);
    }
    return (int)size;
}

// One datagram from the kernel: its size, or what fits of it; CM_NET_NO_DATAGRAM, or -1 for a
// fault.
static ssize_t receive_now(int socket_fd, cm_address *from, void *bytes, size_t size)
{
    struct sockaddr_storage address;
    struct iovec part = {bytes, size};
    struct msghdr message;
    memset(&address, 0, sizeof address);
    memset(&message, 0, sizeof message);
    message.msg_name = &address;
    message.msg_namelen = sizeof address;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ssize_t got = recvmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (got < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK ? CM_NET_NO_DATAGRAM : -1;
    }
    (void)cm_socket_address_read(&address, from);
    return got;
}

// Moves what the kernel has into the socket's queue. True: its first datagram is due.
static bool draw_in(cm_net *net, int socket_fd)
{
    uint8_t bytes[CM_UDP_MAX];
    cm_datagram_queue *queue = socket_fd >= 0 ? inbound_of(net, socket_fd) : NULL;
    if (queue == NULL) {
        return false;
    }
    for (int i = 0; i < 256; i++) { // a flood must not keep us here
        cm_datagram datagram = {.socket = socket_fd};
        ssize_t got = receive_now(socket_fd, &datagram.other, bytes, sizeof bytes);
        if (got < 0) {
            break;
        }
        datagram.size = (uint32_t)got;
        enqueue(net, queue, &datagram, bytes);
    }
    return queue->count > 0 && queue->items[0].due_us <= cm_kernel_now_us();
}

void cm_net_pump(cm_net *net)
{
    if (net->is_virtual || !net->has_link) {
        return;
    }
    cm_kernel_pump(net);
    for (size_t i = 0; i < net->inbound_count; i++) {
        if (net->inbound[i].bytes_max > 0) {
            (void)draw_in(net, (int)i);
        }
    }
}

int cm_kernel_socket_receive(cm_net *net, int socket_fd, cm_address *from, void *bytes, size_t size)
{
    if (!net->has_link) {
        ssize_t got = receive_now(socket_fd, from, bytes, size);
        if (got < 0) {
            return (int)got;
        }
        net->stats.delivered++;
        net->stats.bytes_delivered += (uint64_t)got;
        return (int)got;
    }
    cm_kernel_pump(net);
    if (!draw_in(net, socket_fd)) {
        return CM_NET_NO_DATAGRAM;
    }
    cm_datagram datagram = cm_datagram_pop(inbound_of(net, socket_fd));
    net->stats.delivered++;
    net->stats.bytes_delivered += datagram.size;
    *from = datagram.other;
    size_t got = datagram.size < size ? datagram.size : size;
    memcpy(bytes, datagram.bytes, got);
    free(datagram.bytes);
    return (int)got;
}

int cm_kernel_socket_wait(cm_net *net, int socket_fd, int what, uint32_t timeout_ms)
{
    uint64_t end = cm_kernel_now_us() + (uint64_t)timeout_ms * 1000u;
    for (;;) {
        int poll_ms = (int)timeout_ms;
        uint64_t now = cm_kernel_now_us();
        if (net->has_link) {
            cm_kernel_pump(net);
            if (draw_in(net, socket_fd) && (what & 2) != 0) {
                return 2;
            }
            uint64_t due = cm_net_next_due(net), left = end > now ? end - now : 0;
            uint64_t wait = due < left ? due : left;
            poll_ms = (int)((wait + 999) / 1000);
        }
        struct pollfd p = {.fd = socket_fd};
        p.events = (short)(((what & 1) != 0 ? POLLOUT : 0) | ((what & 2) != 0 ? POLLIN : 0));
        int ready = poll(&p, 1, poll_ms);
        if (ready < 0) {
            return errno == EINTR ? 4 : -1;
        }
        if (!net->has_link) {
            return ((p.revents & POLLOUT) != 0 ? 1 : 0) | ((p.revents & POLLIN) != 0 ? 2 : 0);
        }
        if ((p.revents & POLLOUT) != 0) {
            return 1;
        }
        if (cm_kernel_now_us() >= end) {
            return draw_in(net, socket_fd) && (what & 2) != 0 ? 2 : 0;
        }
    }
}

void cm_kernel_socket_destroy(cm_net *net, int socket_fd)
{
    if (socket_fd < 0) {
        return;
    }
    // Delayed outbound datagrams are sent now (mostly a disconnect); unread inbound ones are
    // dropped.
    cm_datagram_queue keep = {.bytes_max = net->outbound.bytes_max};
    while (net->outbound.count > 0) {
        if (net->outbound.items[0].socket == socket_fd) {
            send_first(net);
            continue;
        }
        cm_datagram datagram = cm_datagram_pop(&net->outbound);
        if (!cm_datagram_push(&keep, &datagram, datagram.bytes)) {
            net->stats.lost++;
        }
        free(datagram.bytes);
    }
    cm_datagram_queue_clear(&net->outbound);
    net->outbound = keep;
    if ((size_t)socket_fd < net->inbound_count) {
        cm_datagram_queue_clear(&net->inbound[socket_fd]);
        net->inbound[socket_fd].bytes_max = 0;
    }
    if (net->last_socket == socket_fd) {
        net->last_socket = -1;
    }
    close(socket_fd);
}
