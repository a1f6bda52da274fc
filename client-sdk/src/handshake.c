// The handshake before ENet connects: hellos to one address after another, until a server's
// challenge gives the keys. Typical: one hello, and its answer a round trip later.
#include "client-sdk/src/link_inner.h"

#include <enet/enet.h>
#include <string.h>

#include "shared/wire/packet.h"

#define LINK_HELLO_MS   200u // a hello goes again
#define LINK_HELLO_LATE 800u // after LINK_HELLOS of them
#define LINK_HELLOS     8u   // to one address, then the next one's turn
#define LINK_UNHEARD_MS 500u // before the welcome: then a hello asks whether the server still lives
#define LINK_ASK_MS     700u // an ask for the rooms goes again
#define LINK_ASKS       12u  // with one cookie: then a hello for another
#define LINK_MOVES      4u   // times that servers may send a client elsewhere, or begin anew

void cm_link_knock(cm_client_link *link)
{
    link->random(link->context, link->secret, sizeof link->secret);
    cm_crypto_public(link->secret, link->public_key);
    link->hellos = 0;
}

static void next_address(cm_client_link *link)
{
    link->address = (link->address + 1) % link->address_count;
    link->asked_port = link->addresses[link->address].port;
}

// Datagrams go to the present address. Where no way leads there they are lost.
static void aim(cm_client_link *link)
{
    const cm_address *to = &link->addresses[link->address];
    if (cm_address_equal(to, &link->aimed)) {
        return;
    }
    link->aimed = *to;
    if (cm_address_is_ipv4(to->ip) && link->relay.path == NULL) {
        link->route_port = to->port;
        memcpy(&link->route_host, to->ip + 12, sizeof link->route_host);
    } else {
        bool open = cm_relay_aim(&link->relay, link->host, to);
        link->route_port = open ? link->relay.port : 0;
        link->route_host = ENET_HOST_TO_NET_32(0x7f000001u);
    }
}

static void send_hello(cm_client_link *link)
{
    aim(link);
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    memcpy(hello.client_public, link->public_key, CM_KEY_BYTES);
    link->hello_ms = enet_time_get();
    link->knock_ms = link->hellos == 0 ? link->hello_ms : link->knock_ms;
    link->hellos++;
    cm_link_send_raw(link, link->datagram, cm_hello_write(&hello, link->datagram));
}

static bool hello_is_due(const cm_client_link *link)
{
    enet_uint32 pause = link->hellos < LINK_HELLOS ? LINK_HELLO_MS : LINK_HELLO_LATE;
    return link->hellos == 0 || enet_time_get() - link->hello_ms >= pause;
}

// Only the process that made a cookie can open it and has the keys. If that server has restarted,
// CONNECT and Hello are lost. But a live server may have received them, with its answer on the way
// and the token used; so the client sends another hello before it gives up its keys.
static void ask_again(cm_client_link *link)
{
    bool silent = !link->welcomed && link->attempts > 0 &&
                  enet_time_get() - link->heard_ms >= LINK_UNHEARD_MS;
    if (silent && hello_is_due(link)) {
        link->asks = true;
        send_hello(link);
    }
}

// From the beginning, to the present address.
static void begin_anew(cm_client_link *link)
{
    if (link->peer != NULL) {
        enet_peer_reset(link->peer);
        link->peer = NULL;
    }
    link->next_port = 0;
    link->refused = 0;
    link->asks = link->reborn = false;
    link->info.opened = 0;
    link->cookie = 0;
    link->attempts = link->rooms_asks = 0;
    cm_link_knock(link);
}

static void ask_rooms(cm_client_link *link)
{
    if (link->rooms_asks > 0 && enet_time_get() - link->rooms_ask_ms < LINK_ASK_MS) {
        return;
    }
    if (link->rooms_asks == LINK_ASKS) {
        begin_anew(link);
        return;
    }
    const cm_connect ask = {.cookie = link->cookie, .client_public = link->public_key};
    link->rooms_asks++;
    link->rooms_ask_ms = enet_time_get();
    cm_link_send_raw(link, link->datagram,
                     cm_rooms_ask_write(&ask, link->rooms->count, link->datagram));
}

void cm_link_take_rooms(cm_client_link *link, const uint8_t *bytes, size_t size)
{
    cm_control *part = NULL;
    if (link->rooms == NULL || link->listed || size < CM_ROOMS_HEADER ||
        !cm_crypto_equal(bytes + 1, link->public_key, CM_ECHO_BYTES) ||
        cm_control_decode(bytes + CM_ROOMS_HEADER, size - CM_ROOMS_HEADER, false, &link->allocator,
                          &part) != CAROM_OK) {
        link->info.refused++;
        return;
    }
    link->listed =
        part->type == CM_CONTROL_ROOMS && cm_client_rooms_read(link->rooms, &link->allocator, part);
    cm_control_free(&link->allocator, part);
}

void cm_link_say_hello(cm_client_link *link)
{
    if (link->cookie != 0 && link->rooms != NULL) {
        ask_rooms(link);
        return;
    }
    if (link->cookie != 0) {
        ask_again(link);
        return;
    }
    if (!hello_is_due(link)) {
        return;
    }
    cm_address *address = &link->addresses[link->address];
    bool moved = address->port != link->asked_port;
    if (link->hellos >= LINK_HELLOS && (moved || link->address_count > 1)) {
        address->port = link->asked_port;
        if (!moved) {
            next_address(link);
        }
        cm_link_knock(link);
    }
    send_hello(link);
}

bool cm_link_follow(cm_client_link *link, cm_transport_event *event)
{
    if (link->listed) {
        link->listed = false;
        link->rooms = NULL;
        event->type = CM_TRANSPORT_LISTED;
        return true;
    }
    if (link->next_port != 0) {
        link->addresses[link->address].port = link->next_port;
        link->moves++;
        begin_anew(link);
    } else if (link->reborn) {
        link->moves++;
        begin_anew(link);
        event->type = CM_TRANSPORT_RESTARTED;
        return true;
    } else if (link->refused != 0) {
        bool full =
            link->refused == CAROM_REASON_ROOM_FULL || link->refused == CAROM_REASON_DRAINING;
        if (!full || link->refusals + 1 >= link->address_count) {
            event->type = CM_TRANSPORT_REFUSED;
            event->reason = (carom_reason)link->refused;
            link->refused = 0;
            return true;
        }
        link->refusals++;
        link->addresses[link->address].port = link->asked_port;
        next_address(link);
        begin_anew(link);
    }
    return false;
}

// Keys, and ENet's own connect, whose datagrams are sealed from its first on.
static void make_keys(cm_client_link *link, const uint8_t *bytes, size_t size)
{
    cm_challenge challenge;
    cm_seal_secrets secrets;
    if (!cm_challenge_read(bytes, size, &challenge) ||
        !cm_crypto_equal(challenge.echo, link->public_key, CM_ECHO_BYTES) ||
        !cm_crypto_shared(link->secret, challenge.server_public, secrets.shared)) {
        link->info.refused++;
        return;
    }
    memcpy(secrets.token_key, link->pass.key, CM_KEY_BYTES);
    memcpy(secrets.client_public, link->public_key, CM_KEY_BYTES);
    memcpy(secrets.server_public, challenge.server_public, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    cm_seal_begin(&link->seal, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    cm_crypto_wipe(&secrets, sizeof secrets);
    cm_crypto_wipe(link->secret, sizeof link->secret);
    memcpy(link->server_public, challenge.server_public, CM_KEY_BYTES);
    link->heard_ms = enet_time_get();
    link->cookie = challenge.cookie;
}

// The answer to ask_again: a server has one public key for its life.
static void take_later_challenge(cm_client_link *link, const uint8_t *bytes, size_t size)
{
    cm_challenge challenge;
    bool ours = cm_challenge_read(bytes, size, &challenge) &&
                cm_crypto_equal(challenge.echo, link->public_key, CM_ECHO_BYTES);
    bool other = ours && !cm_crypto_equal(challenge.server_public, link->server_public,
                                          sizeof link->server_public);
    link->reborn = link->reborn || (other && link->asks && link->moves < LINK_MOVES);
}

void cm_link_take_challenge(cm_client_link *link, const uint8_t *bytes, size_t size)
{
    (link->cookie == 0 ? make_keys : take_later_challenge)(link, bytes, size);
}

bool cm_link_redirect(cm_client_link *link, uint16_t port)
{
    if (port == 0) {
        link->welcomed = false;
        link->reborn = true;
        return true;
    }
    if (link->moves >= LINK_MOVES) {
        return false;
    }
    link->next_port = port; // with the next poll
    return true;
}

// A signed refusal comes from the server. An unsigned one may be forged on the path, so the client
// keeps trying until its deadline.
void cm_link_take_refusal(cm_client_link *link, const cm_refusal *refusal)
{
    link->info.hint = refusal->reason;
    if (link->cookie == 0 || cm_link_is_connected(link) ||
        !cm_refusal_is_signed(refusal, &link->seal)) {
        return;
    }
    if (refusal->reason != CAROM_REASON_ELSEWHERE || refusal->port == 0 ||
        !cm_link_redirect(link, refusal->port)) {
        link->refused = refusal->reason;
    }
}
