// Nets: making, choosing and querying them; see net.h. Sockets are in kernel.c and virtual.c, the
// functions that ENet calls in socket.c.
//
// Invariant: a thread always has a net; without one of its own choosing it is a plain kernel net
// that only this thread sees. Typical: one net a process; in tests one a case.
#include "shared/net/net_impl.h"

#include "shared/base/assert.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE_BYTES_MAX    ((size_t)64 << 20) // what waits to be sent through a kernel link
#define VIRTUAL_START_US   1000000u
#define CHANCE_SALT        UINT64_C(0x6368616e6365)
#define FLIP_SALT          UINT64_C(0x7f1b)
#define VIRTUAL_PORT_FIRST 40000u

static _Thread_local cm_net thread_default;
static _Thread_local cm_net *thread_net;

cm_net *cm_net_current(void)
{
    return thread_net != NULL ? thread_net : &thread_default;
}

cm_net *cm_net_use(cm_net *net)
{
    cm_net *previous = thread_net;
    thread_net = net;
    return previous;
}

static cm_net *net_alloc(uint64_t seed)
{
    cm_net *net = calloc(1, sizeof *net);
    CM_ASSERT(net != NULL);
    cm_rng_seed(&net->rng, seed);
    cm_rng_seed(&net->chance, seed ^ CHANCE_SALT);
    cm_rng_seed(&net->flips, seed ^ FLIP_SALT);
    net->last_socket = -1;
    net->outbound.bytes_max = QUEUE_BYTES_MAX;
    return net;
}

cm_net *cm_net_kernel_create(const cm_link_def *link, uint64_t seed)
{
    cm_net *net = net_alloc(seed);
    if (link != NULL) {
        net->link = *link;
        net->has_link = true;
    }
    return net;
}

cm_net *cm_net_virtual_create(uint64_t seed)
{
    cm_net *net = net_alloc(seed);
    net->is_virtual = true;
    net->now_us = VIRTUAL_START_US;
    net->next_port = VIRTUAL_PORT_FIRST;
    net->ports = calloc(65536, sizeof *net->ports);
    CM_ASSERT(net->ports != NULL);
    for (size_t port = 0; port < 65536; port++) {
        net->ports[port].socket = -1;
    }
    return net;
}

void cm_net_destroy(cm_net *net)
{
    if (net == NULL) {
        return;
    }
    CM_ASSERT(net != &thread_default);
    if (thread_net == net) {
        thread_net = NULL;
    }
    if (net->is_virtual) {
        cm_virtual_destroy(net);
    }
    cm_datagram_queue_clear(&net->outbound);
    for (size_t i = 0; i < net->inbound_count; i++) {
        cm_datagram_queue_clear(&net->inbound[i]);
    }
    free(net->inbound);
    free(net->stand_ins);
    free(net);
}

void cm_net_random(void *context, void *bytes, size_t size)
{
    cm_net *net = cm_net_current();
    (void)context;
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)(cm_rng_next(&net->chance) >> 32);
    }
}

uint64_t cm_net_now_us(const cm_net *net)
{
    const cm_net *n = net != NULL ? net : cm_net_current();
    return n->is_virtual ? n->now_us : cm_kernel_now_us();
}

void cm_net_advance(cm_net *net, uint64_t us)
{
    CM_ASSERT(net->is_virtual);
    net->now_us += us;
}

void cm_net_link_port(cm_net *net, uint16_t port, const cm_link_def *link)
{
    CM_ASSERT(net->is_virtual);
    net->ports[port].link = link != NULL ? *link : (cm_link_def){0};
    net->ports[port].has_link = link != NULL;
}

void cm_net_link_port_down(cm_net *net, uint16_t port, const cm_link_def *link)
{
    CM_ASSERT(net->is_virtual);
    net->ports[port].down = link != NULL ? *link : (cm_link_def){0};
    net->ports[port].has_down = link != NULL;
}

void cm_net_partition(cm_net *net, uint16_t port, bool cut)
{
    CM_ASSERT(net->is_virtual);
    net->ports[port].cut = cut;
}

void cm_net_name_port(cm_net *net, uint16_t port, const uint8_t ip[CM_ADDRESS_BYTES])
{
    CM_ASSERT(net->is_virtual);
    net->ports[port].named = true;
    memcpy(net->ports[port].ip, ip, CM_ADDRESS_BYTES);
}

void cm_net_sender(cm_address *address)
{
    *address = cm_net_current()->sender;
}

size_t cm_net_send(int socket, const cm_address *to, const uint8_t *bytes, size_t size)
{
    cm_net *net = cm_net_current();
    const cm_net_buffer part = {bytes, size};
    int sent = net->is_virtual ? cm_virtual_socket_send(net, socket, to, &part, 1)
                               : cm_kernel_socket_send(net, socket, to, &part, 1);
    return sent > 0 ? (size_t)sent : 0;
}

uint64_t cm_net_flipped(const cm_net *net, uint16_t port)
{
    return net->ports[port].flipped;
}

void cm_net_port_stats_get(const cm_net *net, uint16_t port, cm_net_port_stats *stats)
{
    CM_ASSERT(net->is_virtual);
    *stats = net->ports[port].traffic;
}

uint16_t cm_net_last_port(const cm_net *net)
{
    if (net->is_virtual) {
        return net->last_port;
    }
    cm_address address;
    bool known = net->last_socket >= 0 && cm_kernel_socket_address(net->last_socket, &address) == 0;
    return known ? address.port : 0;
}

void cm_net_stats_get(const cm_net *net, cm_net_stats *stats)
{
    *stats = (net != NULL ? net : cm_net_current())->stats;
}

uint64_t cm_net_trace(const cm_net *net)
{
    return net->trace;
}

static uint64_t first_due(const cm_datagram_queue *queue, uint64_t due)
{
    return queue->count > 0 && queue->items[0].due_us < due ? queue->items[0].due_us : due;
}

uint64_t cm_net_next_due(const cm_net *net)
{
    const cm_net *n = net != NULL ? net : cm_net_current();
    uint64_t now = cm_net_now_us(n);
    uint64_t due = first_due(&n->outbound, UINT64_MAX);
    for (size_t i = 0; i < n->inbound_count; i++) {
        due = first_due(&n->inbound[i], due);
    }
    for (size_t i = 0; i < n->socket_count; i++) {
        due = first_due(&n->sockets[i].inbox, due);
    }
    return due == UINT64_MAX ? due : due > now ? due - now : 0;
}

size_t cm_net_gather(const cm_net_buffer *buffers, size_t count, uint8_t *bytes, size_t space)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (buffers[i].size > space - size) {
            return SIZE_MAX;
        }
        if (buffers[i].size > 0) {
            memcpy(bytes + size, buffers[i].data, buffers[i].size);
        }
        size += buffers[i].size;
    }
    return size;
}
