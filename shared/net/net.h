// The network and the clock under ENet. Our executables define ENet's own socket and time functions
// (socket.c), so unmodified ENet runs on what this thread chose with cm_net_use: the kernel's
// sockets with a monotonic clock and a send that never fails the loop, or a virtual network in
// virtual time, all from one seed. Server and tests only; the SDK never links this.
#ifndef CM_NET_NET_H
#define CM_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/wire/address.h"

typedef struct cm_net cm_net;

// The impairments of datagrams in one direction. Random numbers come from the net's seed.
typedef struct cm_link_def {
    uint32_t latency_us;
    uint32_t jitter_us; // uniform in +-jitter
    float loss;         // 0..1
    float duplicate;    // 0..1
    float flip;         // 0..1: of the datagrams, one bit changed; virtual only
    uint32_t mtu;       // bytes of a datagram above which it is lost; 0: none; virtual only
} cm_link_def;

typedef struct cm_net_stats {
    uint64_t sent, delivered, lost, duplicated, partitioned, send_errors;
    uint64_t bytes_sent, bytes_delivered;
} cm_net_stats;

// Kernel sockets. With a link (may be NULL) every datagram of every socket passes it both ways.
cm_net *cm_net_kernel_create(const cm_link_def *link, uint64_t seed);
// A virtual network on 127.0.0.1 in virtual time, which starts at 1 s. Ports from 40,000 upwards
// are allotted at create; bind takes the port asked for.
cm_net *cm_net_virtual_create(uint64_t seed);
void cm_net_destroy(cm_net *net);

// The net of this thread; NULL: a default kernel net. Returns the previous one.
cm_net *cm_net_use(cm_net *net);

// True if ENet really calls our functions (they are visible to the library): check at start.
bool cm_net_took(void);

// Chance of this thread's net, for tests whose every byte follows from a seed: in the form that
// workers and clients take it. The context is not used.
void cm_net_random(void *context, void *bytes, size_t size);

// ENet's addresses are of IPv4. An IPv6 address is a stand-in there, an address of 240/4 that its
// owner took (network byte order), until the owner frees it; 0: CM_STAND_INS_MAX are taken. What
// ENet sends to a stand-in goes to the address that it stands for.
#define CM_STAND_INS_MAX 4096u
uint32_t cm_net_stand_in(const cm_address *address);
void cm_net_stand_in_free(uint32_t host);
uint32_t cm_net_stand_ins(void); // that are taken
// Datagrams that come and go by something else than a socket of the net. ENet knows their other
// ends by stand-ins, which the carrier takes and frees; what comes enters by one of ENet's sockets.
typedef struct cm_net_carrier {
    void *owner;
    void (*send)(void *owner, uint32_t stand_in, const uint8_t *bytes, size_t size);
    // The next one that came: its size; 0: none is there.
    size_t (*receive)(void *owner, uint32_t *stand_in, uint8_t *bytes, size_t space);
    bool (*ready)(void *owner);
    bool (*is_open)(void *owner, uint32_t stand_in); // false: its other end is gone
} cm_net_carrier;
// Of this thread's net, which has one at most; kept by the caller. NULL: no more.
void cm_net_carry(int socket, const cm_net_carrier *carrier);
uint32_t cm_net_stand_in_carried(const cm_address *address);
// The stand-in by which the datagram came that this thread received last; 0: by a socket.
uint32_t cm_net_sender_carried(void);
// Past ENet, as cm_net_send.
size_t cm_net_send_carried(uint32_t stand_in, const uint8_t *bytes, size_t size);
bool cm_net_is_stand_in(uint32_t host);
// The sender of the datagram that this thread received last: ENet is told 240.0.0.0 for an address
// that is not of IPv4, or is of 240/4 itself.
void cm_net_sender(cm_address *address);
// Sends past ENet. Returns the size, 0 where it could not be sent.
size_t cm_net_send(int socket, const cm_address *to, const uint8_t *bytes, size_t size);

uint64_t cm_net_now_us(const cm_net *net);
void cm_net_advance(cm_net *net, uint64_t us); // virtual only

// Virtual: the link of the socket bound or allotted to a port (applied to what it sends and to what
// it receives); a socket without one has that of the net.
void cm_net_link_port(cm_net *net, uint16_t port, const cm_link_def *link);
// Virtual: what such a port receives passes this link instead; NULL: the same in both directions.
void cm_net_link_port_down(cm_net *net, uint16_t port, const cm_link_def *link);
// Virtual: who has the port has this address, instead of 127.0.0.1.
void cm_net_name_port(cm_net *net, uint16_t port, const uint8_t ip[CM_ADDRESS_BYTES]);
// Cut: nothing goes to or from the port until healed.
void cm_net_partition(cm_net *net, uint16_t port, bool cut);
// Datagrams on their way to a port in which a bit was changed.
uint64_t cm_net_flipped(const cm_net *net, uint16_t port);
// Datagrams that a port sent, and that were sent to it, whatever became of them.
typedef struct cm_net_port_stats {
    uint64_t sent, bytes_sent, addressed, bytes_addressed;
} cm_net_port_stats;
void cm_net_port_stats_get(const cm_net *net, uint16_t port, cm_net_port_stats *stats); // virtual
// Port of the socket made last: how a test learns a client's port.
uint16_t cm_net_last_port(const cm_net *net);

void cm_net_stats_get(const cm_net *net, cm_net_stats *stats);
// Hash over every datagram delivered and when: the same seed gives the same trace.
uint64_t cm_net_trace(const cm_net *net);

// Kernel with a link: sends what is due, and notes what came. A client that is updated 60 times a
// second asks for it in between, or its frames would add to the link's times.
void cm_net_pump(cm_net *net);
// Kernel with a link: when the next delayed datagram is due (us from now), or UINT64_MAX.
uint64_t cm_net_next_due(const cm_net *net);

#endif
