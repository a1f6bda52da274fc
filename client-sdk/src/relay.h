// The way of datagrams that do not go straight from ENet's socket to the server: to an IPv6 server,
// or over a path that is made as bad as a developer wants it (carom_client_simulate_link). ENet
// knows IPv4 alone, and a game may bring an ENet of its own whose socket functions nobody replaces;
// so ENet sends to a socket on 127.0.0.1, and what comes there goes on by another one, and back.
//
//   ENet's socket  <->  near, 127.0.0.1  <->  far: the server
//
// Each end hears its own other one alone. Of a bad path each datagram is lost or waits here, as a
// seed says. Typical: 60 datagrams up and 30 down a second, each copied once more; of a path of 100
// ms ten wait.
#ifndef CM_CLIENT_RELAY_H
#define CM_CLIENT_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "carom/client_more.h"
#include "shared/base/rng.h"
#include "shared/wire/address.h"

struct _ENetHost;

#define CM_RELAY_WAITING 1024u // datagrams; more are lost, as in any queue of a path

typedef struct cm_relay_end {
    int socket;    // -1: closed, or no way leads there
    bool by_enet;  // one of ENet's functions, of IPv4; else connected
    uint32_t host; // who may send to it, by ENet
    uint16_t port;
} cm_relay_end;

typedef struct cm_relay_datagram {
    uint32_t due_ms;
    uint32_t number; // breaks ties: the order in which they came
    bool up;
    uint32_t size;
    uint8_t *bytes;
} cm_relay_datagram;

typedef struct cm_relay {
    const carom_client_link *path; // NULL: as it is
    const carom_allocator *allocator;
    bool open;
    cm_relay_end near, far;
    uint16_t port; // of near
    cm_rng rng;
    uint32_t count, number;
    cm_relay_datagram *waiting;
} cm_relay; // zeroed: closed, and straight

// To this server from now on. ENet's datagrams for it go to relay->port of 127.0.0.1. False: this
// machine has no IPv6, or no way there.
bool cm_relay_aim(cm_relay *relay, struct _ENetHost *host, const cm_address *server);
// Moves what waits, in both directions.
void cm_relay_pump(cm_relay *relay);
void cm_relay_close(cm_relay *relay);

#endif
