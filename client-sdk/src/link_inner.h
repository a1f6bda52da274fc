// The link, as its files share it: link.c (ENet behind a transport) and handshake.c (hello,
// challenge, keys; which server is asked).
#ifndef CM_CLIENT_LINK_INNER_H
#define CM_CLIENT_LINK_INNER_H

#include "client-sdk/src/link.h"
#include "client-sdk/src/relay.h"
#include "client-sdk/src/rooms.h"
#include "shared/transport/enet_hooks.h"
#include "shared/wire/path.h"

struct _ENetHost;
struct _ENetPeer;
struct _ENetPacket;

#define CM_LINK_CONTROLS 256u // control messages that are not acknowledged

typedef struct cm_client_link cm_client_link;

// A control message under way.
typedef struct cm_control_sent {
    cm_client_link *link;
    bool done;
} cm_control_sent;

struct cm_client_link {
    cm_transport transport; // first
    carom_allocator allocator;
    void (*random)(void *context, void *bytes, size_t size);
    void *context;
    struct _ENetHost *host;
    struct _ENetPeer *peer; // NULL before the challenge and once disconnected
    struct _ENetPacket *packet;
    cm_transport_status info; // but for what ENet says of its peer
    uint32_t events;          // since the last flush

    // The handshake.
    cm_token_pass pass; // sealed_size 0: no token
    cm_address addresses[CAROM_TOKEN_SERVERS_MAX];
    cm_address aimed;    // of them, where datagrams go now
    uint32_t route_host; // and where ENet sends them: there, or to the relay
    uint16_t route_port;
    cm_relay relay;                  // to an IPv6 server
    uint32_t address_count, address; // tried now
    uint8_t secret[CM_KEY_BYTES], public_key[CM_KEY_BYTES];
    uint32_t hellos;                     // sent to this address
    uint32_t heard_ms;                   // when the server was
    uint32_t knock_ms;                   // when the first one went
    uint32_t hello_ms;                   // when the last one did
    uint64_t cookie;                     // 0: no challenge yet
    uint8_t server_public[CM_KEY_BYTES]; // whose it was
    bool asks;                           // by hellos, whether that server still lives
    bool reborn;                         // another one answered
    bool welcomed;                       // it asks no more
    cm_client_rooms *rooms;              // wanted before it connects; NULL: not, or no more
    bool listed;                         // they are there
    uint32_t rooms_asks, rooms_ask_ms;   // for them with this cookie, and when the last went
    uint32_t attempts;                   // CONNECTs sent
    uint16_t asked_port; // of the present address, before a server redirected to another
    uint16_t next_port;  // a redirect just received; 0: none
    uint32_t moves;      // times that it did, or was another
    uint32_t refused;    // by this server, just now, for this carom_reason; 0: no
    uint32_t refusals;   // of servers before it

    cm_control_sent controls[CM_LINK_CONTROLS]; // by number

    cm_seal seal;
    cm_path path;
    uint8_t datagram[CM_DATAGRAM_MAX]; // of the handshake, and probes
    cm_enet_hooks hooks;
};

// Sends past ENet.
void cm_link_send_raw(cm_client_link *link, const uint8_t *bytes, size_t size);
bool cm_link_is_connected(const cm_client_link *link);

// New keys; the first hello goes with the next poll.
void cm_link_knock(cm_client_link *link);
// Sends a hello that is due.
void cm_link_say_hello(cm_client_link *link);
// Begins anew where the link has to: at the port that the server named, which has not used the
// token; or at the server that is there now; or, from one that has no place, at the token's next
// server. True: the caller has to be told by the event.
bool cm_link_follow(cm_client_link *link, cm_transport_event *event);
// A challenge makes the keys; a later one tells whether the server is still the same.
void cm_link_take_challenge(cm_client_link *link, const uint8_t *bytes, size_t size);
// A part of the rooms that were asked for.
void cm_link_take_rooms(cm_client_link *link, const uint8_t *bytes, size_t size);
void cm_link_take_refusal(cm_client_link *link, const cm_refusal *refusal);
// As cm_transport_redirect.
bool cm_link_redirect(cm_client_link *link, uint16_t port);

#endif
