// The connections that the gate has let in: keys, address, path and token of each, found by the id
// that every sealed datagram names. A connection that has sent nothing sealed yet is evicted for a
// new one, and so is one that has sent no Hello for a while. Typical: 32 places, one search a
// datagram.
#ifndef CM_SERVER_AUTH_CONNECTIONS_H
#define CM_SERVER_AUTH_CONNECTIONS_H

#include "shared/wire/path.h"
#include "shared/wire/token.h"

#define CM_CONNECTION_NONE     UINT32_MAX
#define CM_CONNECTIONS_OF_SLOT 4u       // by tickets: the one that plays, and tries of a bad path
#define CM_CONNECTION_HELLO_US 1000000u // to join a room, where another one wants the place

typedef struct cm_connection {
    cm_seal seal; // id 0: the place is free
    cm_address from;
    bool confirmed; // something sealed came: it has the keys, and the path leads back to it
    bool joined;    // its Hello led into a room
    uint64_t opened_us;
    cm_path path;
    cm_token token; // kind 0: none was wanted
    bool announced; // that the token is used
} cm_connection;

typedef struct cm_connections {
    uint32_t capacity, count;
    cm_connection *places;
    uint32_t *index; // by id, open addressing: place and one; 0: nothing
    uint32_t index_mask;
} cm_connections;

// False where memory is short; free it even so.
bool cm_connections_init(cm_connections *connections, uint32_t capacity);
// Keys are wiped.
void cm_connections_free(cm_connections *connections);

// The place of an id, or CM_CONNECTION_NONE.
uint32_t cm_connections_find(const cm_connections *connections, uint32_t id);
// A free place for a connection that opens now, else that of the oldest unconfirmed one, else that
// of the oldest one that has not joined for CM_CONNECTION_HELLO_US; or CM_CONNECTION_NONE. If
// CM_CONNECTIONS_OF_SLOT connections came by tickets of the same slot, only one of those is
// evicted: a ticket may be used many times, and must not fill the host.
uint32_t cm_connections_find_place(const cm_connections *connections, const cm_connection *made);
// Over what was there.
void cm_connections_put(cm_connections *connections, uint32_t place, const cm_connection *made);
// It is over: its keys are wiped.
void cm_connections_end(cm_connections *connections, uint32_t place);

#endif
