// The way to an IPv6 server. ENet knows IPv4 alone, and a game may bring an ENet of its own whose
// socket functions nobody replaces; so ENet sends to a socket on 127.0.0.1, and what comes there
// goes on by an IPv6 socket, and back.
//
//   ENet's socket  <->  near, 127.0.0.1  <->  far, connected to the server
//
// Each end hears its own other one alone. Typical: 60 datagrams up and 30 down a
// second, each copied once more.
#ifndef CM_CLIENT_RELAY_H
#define CM_CLIENT_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/wire/address.h"

struct _ENetHost;

typedef struct cm_relay {
    bool open;
    int near, far; // sockets; far -1: no way leads to the server
    uint16_t port; // of near
} cm_relay;        // zeroed: closed

// To this server from now on. ENet's datagrams for it go to relay->port of 127.0.0.1. False: this
// machine has no IPv6, or no way there.
bool cm_relay_aim(cm_relay *relay, struct _ENetHost *host, const cm_address *server);
// Moves what waits, in both directions.
void cm_relay_pump(cm_relay *relay);
void cm_relay_close(cm_relay *relay);

#endif
