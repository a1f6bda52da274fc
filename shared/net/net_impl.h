// Inside shared/net only: what a net is made of, and the socket operations that its two kinds
// implement.
#ifndef CM_NET_NET_IMPL_H
#define CM_NET_NET_IMPL_H

#include "shared/net/link.h"

typedef struct cm_net_buffer {
    const void *data;
    size_t size;
} cm_net_buffer;

#define CM_UDP_MAX 65507u

// Virtual: one socket. Its number is CM_VIRTUAL_SOCKET + its place, far from any descriptor, so
// that a mistaken poll() answers POLLNVAL and touches nothing.
#define CM_VIRTUAL_SOCKET (1 << 20)
typedef struct cm_virtual_socket {
    bool open;
    uint16_t port;
    uint8_t bound_ip[CM_ADDRESS_BYTES];
    cm_datagram_queue inbox;
} cm_virtual_socket;

// Virtual: what is known of a port, whether or not a socket has it now.
typedef struct cm_virtual_port {
    int socket; // place, -1: none
    bool has_link, has_down, cut;
    cm_link_def link, down; // down: of what it receives, where that has one of its own
    uint64_t flipped;       // on their way to it
    cm_net_port_stats traffic;
    bool named;
    uint8_t ip[CM_ADDRESS_BYTES]; // where it is named
} cm_virtual_port;

typedef struct cm_stand_ins cm_stand_ins;

struct cm_net {
    bool is_virtual, has_link;
    cm_rng rng;
    cm_rng flips;  // which bits change; a generator of its own, as the next
    cm_rng chance; // what tests make keys of; a generator of its own, so that links draw as before
    cm_link_def link; // kernel: of every socket; virtual: of sockets without one of their own
    cm_net_stats stats;
    uint64_t number; // of the next datagram queued
    uint64_t trace;
    cm_stand_ins *stand_ins;       // NULL: none was ever taken
    cm_address sender;             // of the datagram received last
    const cm_net_carrier *carrier; // NULL: none
    int carrier_socket;            // by which what it carries comes in
    bool carrier_first;            // it and the socket take turns
    uint32_t sender_carried;       // stand-in of the sender; 0: it came by a socket

    // Kernel.
    int last_socket;
    cm_datagram_queue outbound; // with a link
    cm_datagram_queue *inbound; // with a link: of each descriptor
    size_t inbound_count;

    // Virtual.
    uint64_t now_us;
    cm_virtual_socket *sockets;
    size_t socket_count;
    cm_virtual_port *ports; // 65,536, indexed by port
    uint16_t next_port, last_port;
};

// The net of this thread: never NULL.
cm_net *cm_net_current(void);

// A socket's receive returns this when no datagram waits; -1 is a fault, 0 an empty datagram. A
// datagram larger than the buffer is cut.
#define CM_NET_NO_DATAGRAM (-2)

// Finds the address that a stand-in stands for; false: none.
bool cm_net_stand_in_find(const cm_net *net, uint32_t host, cm_address *address);
bool cm_net_is_carried(const cm_net *net, uint32_t host);

// Counts calls by ENet of each function of socket.c, a bit each; cm_net_took looks at them.
extern _Thread_local uint32_t cm_net_called;

void cm_virtual_destroy(cm_net *net);
int cm_virtual_socket_create(cm_net *net);
int cm_virtual_socket_bind(cm_net *net, int socket, const cm_address *address);
int cm_virtual_socket_address(cm_net *net, int socket, cm_address *address);
int cm_virtual_socket_send(cm_net *net, int socket, const cm_address *to,
                           const cm_net_buffer *buffers, size_t count);
int cm_virtual_socket_receive(cm_net *net, int socket, cm_address *from, void *bytes, size_t size);
bool cm_virtual_socket_ready(cm_net *net, int socket);
void cm_virtual_socket_destroy(cm_net *net, int socket);

uint64_t cm_kernel_now_us(void);
int cm_kernel_socket_create(cm_net *net);
void cm_kernel_receive_buffer(int socket, int size);
int cm_kernel_socket_bind(int socket, const cm_address *address);
int cm_kernel_socket_address(int socket, cm_address *address);
int cm_kernel_socket_send(cm_net *net, int socket, const cm_address *to,
                          const cm_net_buffer *buffers, size_t count);
int cm_kernel_socket_receive(cm_net *net, int socket, cm_address *from, void *bytes, size_t size);
// Waits for (1) sending, (2) receiving; returns what is possible, -1 for an error, 4 interrupted.
int cm_kernel_socket_wait(cm_net *net, int socket, int what, uint32_t timeout_ms);
void cm_kernel_socket_destroy(cm_net *net, int socket);
void cm_kernel_pump(cm_net *net);
// Copies buffers into one run of bytes; the size, or SIZE_MAX where it exceeds the space.
size_t cm_net_gather(const cm_net_buffer *buffers, size_t count, uint8_t *bytes, size_t space);

#endif
