// ENet knows IPv4 addresses alone, so an IPv6 address has a stand-in of 240/4 there, where nobody
// is. Typical: one for each IPv6 client that has a connection.
#include "shared/net/net_impl.h"

#include <netinet/in.h>
#include <stdlib.h>

#define FIRST 0xf0000000u // 240.0.0.0 stands for nobody in particular: who sent the last datagram

struct cm_stand_ins {
    cm_address addresses[CM_STAND_INS_MAX + 1]; // by the stand-in's low bits, from 1 on
    uint16_t next_free[CM_STAND_INS_MAX + 1];   // after this one; of those that are free
    bool taken[CM_STAND_INS_MAX + 1];
    bool carried[CM_STAND_INS_MAX + 1];
    uint32_t first_free, ever, count; // `ever`: those above it were never taken
};

uint32_t cm_net_stand_in(const cm_address *address)
{
    cm_net *net = cm_net_current();
    if (net->stand_ins == NULL) {
        net->stand_ins = calloc(1, sizeof *net->stand_ins);
    }
    cm_stand_ins *s = net->stand_ins;
    uint32_t number = s == NULL ? 0 : s->first_free;
    if (number != 0) {
        s->first_free = s->next_free[number];
    } else if (s != NULL && s->ever < CM_STAND_INS_MAX) {
        number = ++s->ever;
    }
    if (number == 0) {
        return 0;
    }
    s->addresses[number] = *address;
    s->taken[number] = true;
    s->carried[number] = false;
    s->count++;
    return htonl(FIRST | number);
}

uint32_t cm_net_stand_in_carried(const cm_address *address)
{
    uint32_t host = cm_net_stand_in(address);
    if (host != 0) {
        cm_net_current()->stand_ins->carried[ntohl(host) & ~FIRST] = true;
    }
    return host;
}

// Its number, 0: it stands for nobody.
static uint32_t number_of(const cm_net *net, uint32_t host)
{
    uint32_t number = ntohl(host) & ~FIRST;
    bool known = cm_net_is_stand_in(host) && net->stand_ins != NULL && number > 0 &&
                 number <= CM_STAND_INS_MAX && net->stand_ins->taken[number];
    return known ? number : 0;
}

void cm_net_stand_in_free(uint32_t host)
{
    cm_net *net = cm_net_current();
    uint32_t number = number_of(net, host);
    if (number != 0) {
        cm_stand_ins *s = net->stand_ins;
        s->taken[number] = false;
        s->next_free[number] = (uint16_t)s->first_free;
        s->first_free = number;
        s->count--;
    }
}

uint32_t cm_net_stand_ins(void)
{
    const cm_net *net = cm_net_current();
    return net->stand_ins != NULL ? net->stand_ins->count : 0;
}

bool cm_net_is_stand_in(uint32_t host)
{
    return (ntohl(host) & FIRST) == FIRST;
}

bool cm_net_is_carried(const cm_net *net, uint32_t host)
{
    uint32_t number = number_of(net, host);
    return net->carrier != NULL && number != 0 && net->stand_ins->carried[number];
}

void cm_net_carry(int socket, const cm_net_carrier *carrier)
{
    cm_net *net = cm_net_current();
    net->carrier = carrier;
    net->carrier_socket = socket;
}

uint32_t cm_net_sender_carried(void)
{
    return cm_net_current()->sender_carried;
}

size_t cm_net_send_carried(uint32_t stand_in, const uint8_t *bytes, size_t size)
{
    const cm_net *net = cm_net_current();
    if (!cm_net_is_carried(net, stand_in)) {
        return 0;
    }
    net->carrier->send(net->carrier->owner, stand_in, bytes, size);
    return size;
}

bool cm_net_stand_in_find(const cm_net *net, uint32_t host, cm_address *address)
{
    uint32_t number = number_of(net, host);
    if (number != 0) {
        *address = net->stand_ins->addresses[number];
    }
    return number != 0;
}
