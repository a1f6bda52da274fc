// Goal: nobody holds a place of the host without playing for longer than some seconds, whatever it
// sends and leaves unacknowledged; a ticket, good as often as one likes, holds few; and who was
// banned on the way in does not come in. Method: away.h, and clients made of bytes that do only
// what is said here.
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <enet/enet.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/base/rng.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

#define ANSWER_STEPS 30u // 120 ms: two trips of 25 ms, and turns
#define HOLDERS      24u
#define HOST_PEERS   20u // of a room of two players

typedef struct holder {
    ENetSocket socket;
    cm_seal seal;
    uint16_t peer, session, verify, time; // of ENet's, once it was answered
    carom_reason refused;                 // by the gate
} holder;

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put_bytes(const holder *h, uint8_t *bytes, size_t size)
{
    ENetAddress address = {htonl(0x7f000001), AWAY_PORT};
    ENetBuffer buffer = {bytes, size};
    cr_assert_eq(enet_socket_send(h->socket, &address, &buffer, 1), (int)size);
}

// What comes within some turns; 0: nothing does.
static size_t answer(away *a, const holder *h, uint8_t bytes[CM_DATAGRAM_MAX])
{
    ENetAddress from;
    ENetBuffer buffer = {bytes, CM_DATAGRAM_MAX};
    for (uint32_t i = 0; i < ANSWER_STEPS; i++) {
        int size = enet_socket_receive(h->socket, &from, &buffer, 1);
        if (size > 0) {
            return (size_t)size;
        }
        away_step(a);
    }
    return 0;
}

static void say_commands(holder *h, const uint8_t *commands, size_t size)
{
    uint8_t datagram[CM_DATAGRAM_MAX];
    put16(datagram + CM_SEAL_HEADER, 0x8000u | (uint32_t)h->session << 12 | h->peer);
    put16(datagram + CM_SEAL_HEADER + 2, 0);
    memcpy(datagram + CM_SEAL_HEADER + 4, commands, size);
    put_bytes(h, datagram, cm_seal_close(&h->seal, CM_WIRE_SEALED, datagram, 4 + size));
}

static void say_ack(holder *h, uint8_t channel, uint16_t sequence)
{
    uint8_t ack[8] = {0x01, channel};
    put16(ack + 4, sequence);
    put16(ack + 6, h->time);
    say_commands(h, ack, sizeof ack);
}

// The handshake up to CONNECT, whose ENet part is as enet_host_connect would make it.
static void knock(away *a, holder *h, const cm_token_pass *pass)
{
    static const uint8_t enet[CM_ENET_CONNECT] = {
        0x8f, 0xff, 0, 0, 0x82, 0xff, 0, 1, 0, 0, 0xff, 0xff, 0, 0, 2,    7,    0, 1, 0, 0,
        0,    0,    0, 2, 0,    0,    0, 0, 0, 0, 0,    0,    0, 0, 0x13, 0x88, 0, 0, 0, 2};
    uint8_t secret[CM_KEY_BYTES], public_key[CM_KEY_BYTES], bytes[CM_DATAGRAM_MAX];
    memset(h, 0, sizeof *h);
    h->socket = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    cm_net_random(NULL, secret, sizeof secret);
    cm_crypto_public(secret, public_key);
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    memcpy(hello.client_public, public_key, sizeof public_key);
    put_bytes(h, bytes, cm_hello_write(&hello, bytes));
    cm_challenge challenge;
    cm_seal_secrets secrets;
    cr_assert(cm_challenge_read(bytes, answer(a, h, bytes), &challenge));
    cr_assert(cm_crypto_shared(secret, challenge.server_public, secrets.shared));
    memcpy(secrets.token_key, pass->key, CM_KEY_BYTES);
    memcpy(secrets.client_public, public_key, CM_KEY_BYTES);
    memcpy(secrets.server_public, challenge.server_public, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    cm_seal_begin(&h->seal, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    cm_connect connect = {.cookie = challenge.cookie,
                          .client_public = public_key,
                          .token = pass->sealed,
                          .token_size = pass->sealed_size};
    put_bytes(h, bytes, cm_connect_write(&connect, enet, &h->seal, bytes));
}

// Until ENet's VERIFY_CONNECT has come, or a refusal; then false.
static bool enter(away *a, holder *h, const cm_token_pass *pass)
{
    knock(a, h, pass);
    for (;;) {
        uint8_t bytes[CM_DATAGRAM_MAX];
        size_t size = answer(a, h, bytes), plain = 0;
        cm_refusal refusal;
        cr_assert_gt(size, 0, "no answer");
        if (cm_refusal_read(bytes, size, &refusal)) {
            cr_assert(cm_refusal_is_signed(&refusal, &h->seal));
            h->refused = (carom_reason)refusal.reason;
            return false;
        }
        if (bytes[0] != CM_WIRE_SEALED ||
            cm_seal_open(&h->seal, bytes, size, &plain) != CM_SEAL_OK) {
            continue;
        }
        const uint8_t *at = bytes + CM_SEAL_HEADER, *verify = at + 4; // a time stands before it
        verify += (verify[0] & 15) == 1 ? 8 : 0;                      // the ack of the CONNECT
        if ((verify[0] & 15) == 3) {
            h->time = (uint16_t)(at[2] << 8 | at[3]);
            h->verify = (uint16_t)(verify[2] << 8 | verify[3]);
            h->peer = (uint16_t)(verify[4] << 8 | verify[5]);
            h->session = verify[7];
            return true;
        }
    }
}

static cm_token_pass token_of(const away *a, uint32_t i)
{
    char text[CAROM_TOKEN_TEXT_MAX];
    cm_token_pass pass;
    away_issue(a, i, text);
    cr_assert(cm_token_pass_read(text, &pass));
    return pass;
}

typedef enum manner {
    HALF_OPEN,   // ENet's handshake stays where it is
    NO_HELLO,    // and the refusal for it is never acknowledged
    NO_FAREWELL, // the refusal is, ENet's disconnect behind it is not
    MANNERS
} manner;

// Says something sealed ten times a second, so that it is never silent.
static void hold(away *a, holder *h, manner how, double seconds)
{
    for (double at = 0.0; at < seconds; at += 0.1) {
        if (how == NO_FAREWELL) {
            say_ack(h, 0, 1);
        } else {
            say_ack(h, 0, 999); // of nothing
        }
        away_run(a, 0.1);
    }
}

// 5 s to open and to say hello, 2 s for a goodbye; what comes later is for no connection.
Test(hold, a_place_is_held_for_some_seconds)
{
    static const double holds_s[MANNERS] = {5.0, 7.0, 7.0};
    for (manner how = HALF_OPEN; how < MANNERS; how++) {
        away a;
        holder h;
        away_make(&a, &(away_def){.seed = 40, .tokens = true, .lossless = true});
        cm_token_pass pass = token_of(&a, 0);
        cr_assert(enter(&a, &h, &pass));
        if (how != HALF_OPEN) {
            say_ack(&h, 0xff, h.verify);
        }
        hold(&a, &h, how, holds_s[how] - 0.5);
        cr_assert_eq(away_stats(&a).refused[CM_DATAGRAM_UNKNOWN], 0, "%d: it has its place", how);
        cr_assert_eq(away_stats(&a).peers, how != HALF_OPEN);
        hold(&a, &h, how, 1.5);
        cr_assert_gt(away_stats(&a).refused[CM_DATAGRAM_UNKNOWN], 0, "%d holds it", how);
        cr_assert_eq(away_stats(&a).peers, 0);
        enet_socket_destroy(h.socket);
        away_free(&a);
    }
}

// A player who is cut off while it is sent away hears of it no more, and holds nothing.
Test(hold, who_does_not_hear_that_it_must_go)
{
    away a;
    away_make(&a, &(away_def){.seed = 41, .tokens = true, .lossless = true});
    away_join(&a, 0);
    cm_net_partition(a.net, a.ports[0], true);
    cr_assert_eq(cm_worker_kick(a.worker, false, AWAY_ID), 1);
    cr_assert_eq(away_stats(&a).peers, 1);
    a.clients[0]->def.reconnect = false;
    away_run(&a, 2.1);
    cr_assert_eq(away_stats(&a).peers, 0);
    away_free(&a);
}

#define SILENT 60u

// Everybody's time passes; those of the links read what they are told, and say nothing.
static void step_silent(away *a, cm_transport *const links[SILENT])
{
    cm_transport_event event;
    away_step(a);
    for (uint32_t i = 0; i < SILENT; i++) {
        while (cm_transport_poll(links[i], &event)) {
        }
        cm_transport_flush(links[i]);
    }
}

// Many who connect and say no Hello have every place, and come again; who wants to play comes in
// all the same, and keeps the place.
Test(hold, who_says_no_hello_yields_to_who_plays)
{
    away a;
    cm_transport *links[SILENT];
    away_make(&a, &(away_def){.seed = 43, .lossless = true});
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < SILENT; i++) {
            links[i] = rig_dial(AWAY_PORT, NULL);
        }
        for (uint32_t i = 0; i < 350; i++) {
            step_silent(&a, links);
        }
        cr_assert_lt(away_stats(&a).peers, SILENT, "there is room for all");
        for (uint32_t i = 0; round == 0 && i < 500 && away_stats(&a).players == 0; i++) {
            if (a.clients[0] == NULL) {
                away_connect(&a, 0);
            }
            step_silent(&a, links);
        }
        cr_assert_eq(away_stats(&a).players, 1, "round %u", round);
        for (uint32_t i = 0; i < SILENT; i++) {
            cm_transport_destroy(links[i], CAROM_REASON_NONE);
        }
    }
    cr_assert_geq(away_stats(&a).clients_refused[CAROM_REASON_HELLO_EXPECTED], 1);
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING);
    cr_assert_eq(away_client_stats(&a, 0).comebacks, 0);
    away_free(&a);
}

// One ticket, again and again with other keys: it has a few places, and others come in.
Test(hold, a_ticket_does_not_fill_the_host)
{
    away a;
    holder holders[HOLDERS];
    uint32_t count = 0;
    away_make(&a, &(away_def){.seed = 42, .tokens = true, .max_players = 2, .lossless = true});
    away_join(&a, 0);
    cm_token_pass ticket = a.clients[0]->ticket;
    _Static_assert(HOLDERS > HOST_PEERS, "enough to fill it");
    for (uint32_t i = 0; i < HOLDERS; i++) {
        count += enter(&a, &holders[i], &ticket);
        cr_assert(holders[i].refused == CAROM_REASON_NONE ||
                  holders[i].refused == CAROM_REASON_ROOM_FULL);
        for (uint32_t k = 0; k <= i; k++) {
            if (holders[k].refused == CAROM_REASON_NONE) {
                say_ack(&holders[k], 0, 999);
            }
        }
    }
    // Who says no Hello for a second makes way, but for a ticket of the same slot alone.
    cr_assert_geq(count, CM_CONNECTIONS_OF_SLOT);
    cr_assert_leq(away_stats(&a).peers, 1 + CM_CONNECTIONS_OF_SLOT);
    cr_assert_eq(away_stats(&a).refused[CM_DATAGRAM_FULL], HOLDERS - count);
    away_join(&a, 1);
    cr_assert_eq(away_stats(&a).players, 2);
    for (uint32_t i = 0; i < HOLDERS; i++) {
        enet_socket_destroy(holders[i].socket);
    }
    away_free(&a);
}

// The slot is gone: its ticket gets no connection, and is told so by who alone can know.
Test(hold, a_ticket_without_a_slot_gets_no_place)
{
    away a;
    holder h;
    away_make(&a, &(away_def){.seed = 43, .tokens = true, .lossless = true});
    away_join(&a, 0);
    cm_token_pass ticket = a.clients[0]->ticket;
    cr_assert(enter(&a, &h, &ticket), "while it is there");
    enet_socket_destroy(h.socket);
    cr_assert_eq(cm_worker_kick(a.worker, false, AWAY_ID), 1);
    away_run(&a, 0.5);
    cr_assert_not(enter(&a, &h, &ticket));
    cr_assert_eq(h.refused, CAROM_REASON_SLOT_GONE);
    cr_assert_eq(away_stats(&a).refused[CM_DATAGRAM_SLOT], 1);
    enet_socket_destroy(h.socket);
    away_free(&a);
}

// Past the gate when the ban comes, and not yet a client whom it finds.
Test(hold, a_ban_holds_for_who_is_on_the_way_in)
{
    for (uint32_t by_address = 0; by_address < 2; by_address++) {
        away a;
        holder h;
        away_make(&a, &(away_def){.seed = 44, .tokens = true, .lossless = true});
        cm_token_pass pass = token_of(&a, 0);
        cr_assert(enter(&a, &h, &pass));
        cr_assert(cm_worker_ban(a.worker, by_address, by_address ? htonl(0x7f000001) : AWAY_ID));
        say_ack(&h, 0xff, h.verify);
        away_run(&a, 0.1);
        cr_assert_eq(away_stats(&a).peers, 1);
        cm_control hello = {.type = CM_CONTROL_HELLO,
                            .protocol = CM_PROTOCOL_VERSION,
                            .engine = CAROM_ENGINE_VERSION};
        uint8_t command[256] = {0x86, 0, 0, 1}, *bytes = NULL;
        size_t size = 0;
        cr_assert_eq(cm_control_encode(&hello, NULL, &bytes, &size), CAROM_OK);
        cr_assert_lt(size, 200);
        put16(command + 4, (uint32_t)size);
        memcpy(command + 6, bytes, size);
        cm_control_release_bytes(NULL, bytes);
        say_commands(&h, command, 6 + size);
        away_run(&a, 0.1);
        cr_assert_eq(away_stats(&a).players, 0);
        cr_assert_eq(away_logged(&a, "player joined"), 0);
        cr_assert_not_null(strstr(a.log, "the player is banned"), "%s", a.log);
        enet_socket_destroy(h.socket);
        away_free(&a);
    }
}
