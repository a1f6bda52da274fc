// Goal: who has no token, or one that is not good here and now, gets no connection, and whatever a
// stranger sends costs less than it cost them. Method: the gate as a function, against a client's
// side of the handshake made of the same parts; each kind of wrong token; floods of connects.
#include "server/auth/gate.h"

#include <criterion/criterion.h>
#include <string.h>

#include "shared/base/rng.h"
#include "shared/wire/packet.h"

#define NOW_US UINT64_C(50000000)
#define UNIX_S UINT64_C(1900000000)

typedef struct rig {
    cm_rng rng;
    carom_token_keys keys;
    cm_gate *gate;
    uint64_t later_us; // than NOW_US
    // Of the CONNECTs that are made: channels besides two, and a byte that is another; 0: none.
    int more_channels;
    uint32_t spoils;
} rig;

static void draw(cm_rng *rng, void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)(cm_rng_next(rng) >> 24);
    }
}

static void make(rig *r, uint64_t seed, bool tokens, uint32_t connections)
{
    memset(r, 0, sizeof *r);
    cm_rng_seed(&r->rng, seed);
    r->keys.count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        r->keys.keys[i].id = 10 + i;
        draw(&r->rng, r->keys.keys[i].secret, 32);
    }
    cm_gate_def def = {.keys = tokens ? &r->keys : NULL, .connections = connections};
    draw(&r->rng, def.chance, sizeof def.chance);
    r->gate = cm_gate_create(&def);
    cm_address here = CM_ADDRESS_IPV4(203, 0, 113, 7, 7777);
    cm_gate_set_addresses(r->gate, &here, 1);
}

static const cm_address somewhere = CM_ADDRESS_IPV4(10, 0, 0, 2, 4000);

// A client's side.
typedef struct caller {
    cm_address from;
    cm_token token;
    uint8_t sealed[CM_TOKEN_MAX];
    size_t sealed_size;
    uint8_t secret[CM_KEY_BYTES];
    cm_hello hello;
    cm_seal seal;
    uint8_t connect[CM_PATH_LEAST];
    size_t connect_size;
} caller;

static void give_token(rig *r, caller *c, const char *servers, uint64_t expires, uint32_t key)
{
    (void)servers;
    memset(c, 0, sizeof *c);
    c->from = somewhere;
    c->token.kind = CM_TOKEN_CONNECT;
    c->token.body.key_id = r->keys.keys[key].id;
    c->token.body.client_id = 99;
    c->token.body.expires_unix_s = expires;
    c->token.body.server_count = 1;
    c->token.body.servers[0] = CM_ADDRESS_IPV4(203, 0, 113, 7, 7777);
    draw(&r->rng, c->token.id, sizeof c->token.id);
    draw(&r->rng, c->token.key, sizeof c->token.key);
}

static void receive(rig *r, cm_address from, const uint8_t *bytes, size_t size,
                    cm_gate_result *result)
{
    static uint8_t copy[2000];
    memcpy(copy, bytes, size);
    cm_gate_receive(r->gate, from, NOW_US + r->later_us, UNIX_S, copy, size, result);
    if (result->verdict == CM_GATE_ANSWER) {
        cr_assert_leq(result->size, size, "no more goes out than came in");
    }
}

// Up to the CONNECT, made and not yet sent. `seal` says whether the token is sealed (again).
static void knock(rig *r, caller *c, bool with_token)
{
    uint8_t bytes[CM_PATH_LEAST];
    cm_gate_result result;
    draw(&r->rng, c->secret, sizeof c->secret);
    cm_crypto_public(c->secret, c->hello.client_public);
    c->hello.protocol = CM_PROTOCOL_VERSION;
    receive(r, c->from, bytes, cm_hello_write(&c->hello, bytes), &result);
    cr_assert_eq((int)result.verdict, CM_GATE_ANSWER);
    cm_challenge challenge;
    cr_assert(cm_challenge_read(result.bytes, result.size, &challenge));
    cm_seal_secrets secrets = {{0}};
    if (with_token && c->sealed_size == 0) {
        carom_token_key key = {0};
        for (uint32_t i = 0; i < r->keys.count; i++) {
            key = r->keys.keys[i].id == c->token.body.key_id ? r->keys.keys[i] : key;
        }
        key.id = c->token.body.key_id;
        c->sealed_size = cm_token_seal(&c->token, &key, c->sealed);
    }
    memcpy(secrets.token_key, c->token.key, CM_KEY_BYTES);
    memcpy(secrets.client_public, c->hello.client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, challenge.server_public, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    cr_assert(cm_crypto_shared(c->secret, challenge.server_public, secrets.shared));
    cm_seal_begin(&c->seal, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    uint8_t enet[CM_ENET_CONNECT] = {0x8f, 0xff, 0, 0, 0x82, 0xff, 0, 1};
    enet[23] = (uint8_t)(CM_FRAME_CHANNELS + r->more_channels);
    enet[r->spoils] ^= r->spoils > 0;
    cm_connect connect = {.cookie = challenge.cookie,
                          .client_public = c->hello.client_public,
                          .token = c->sealed,
                          .token_size = with_token ? c->sealed_size : 0};
    c->connect_size = cm_connect_write(&connect, enet, &c->seal, c->connect);
}

// What a CONNECT gets: CM_DATAGRAM_REASON_COUNT where it is let in; `why` what the client is told.
static cm_datagram_reason enter(rig *r, const caller *c, carom_reason *why)
{
    cm_gate_result result;
    receive(r, c->from, c->connect, c->connect_size, &result);
    *why = CAROM_REASON_NONE;
    if (result.verdict == CM_GATE_ANSWER) {
        cm_refusal refusal;
        cr_assert(cm_refusal_read(result.bytes, result.size, &refusal));
        cr_assert_arr_eq(refusal.echo, c->hello.client_public, CM_ECHO_BYTES);
        *why = (carom_reason)refusal.reason;
        // All but of a token that no key opens: then there are no keys in common.
        cr_expect_eq(cm_refusal_is_signed(&refusal, &c->seal), *why != CAROM_REASON_TOKEN);
    }
    return result.reason;
}

static void expect(rig *r, caller *c, cm_datagram_reason reason, carom_reason told)
{
    carom_reason why;
    cm_datagram_reason got = enter(r, c, &why);
    cr_expect_eq((int)got, (int)reason, "%s, expected %s", cm_datagram_reason_text(got),
                 cm_datagram_reason_text(reason));
    cr_expect_eq((int)why, (int)told, "%s", carom_reason_text(why));
}

#define IN CM_DATAGRAM_REASON_COUNT, CAROM_REASON_NONE

Test(gate, a_good_token_lets_in_once)
{
    rig r;
    caller c;
    make(&r, 1, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 1, 1);
    knock(&r, &c, true);
    expect(&r, &c, IN);
    // ENet sends its CONNECT again until it is answered: no second use.
    expect(&r, &c, IN);
    uint32_t connection = cm_gate_find(r.gate, c.seal.id);
    cr_assert_neq(connection, CM_CONNECTION_NONE);
    cr_assert_eq(cm_gate_token(r.gate, connection)->body.client_id, 99);
    // The same token from another handshake, while the first lives and after it.
    caller thief = c;
    knock(&r, &thief, true);
    expect(&r, &thief, CM_DATAGRAM_USED, CAROM_REASON_TOKEN_USED);
    cm_used_token used[4];
    cr_assert_eq(cm_used_tokens_pop_new(cm_gate_used(r.gate), used, 4), 0, "it may still need it");
    cm_gate_end(r.gate, connection);
    cr_assert_eq(cm_gate_find(r.gate, c.seal.id), CM_CONNECTION_NONE);
    expect(&r, &c, CM_DATAGRAM_USED, CAROM_REASON_TOKEN_USED);
    knock(&r, &thief, true);
    expect(&r, &thief, CM_DATAGRAM_USED, CAROM_REASON_TOKEN_USED);
    // What an earlier process took counts too.
    rig again;
    make(&again, 1, true, 4);
    cr_assert_eq(cm_used_tokens_pop_new(cm_gate_used(r.gate), used, 4), 1);
    cr_assert(cm_used_tokens_add(cm_gate_used(again.gate), &used[0], UNIX_S, false));
    cr_assert_eq(cm_used_tokens_pop_new(cm_gate_used(again.gate), used, 4), 0);
    knock(&again, &thief, true);
    expect(&again, &thief, CM_DATAGRAM_USED, CAROM_REASON_TOKEN_USED);
    cm_gate_destroy(again.gate);
    cm_gate_destroy(r.gate);
}

// Once its client has its welcome, or its place is another's; and once only.
Test(gate, a_used_token_is_told_when_its_client_needs_it_no_more)
{
    rig r;
    caller c, other;
    cm_used_token used[4];
    make(&r, 13, true, 1);
    give_token(&r, &c, NULL, UNIX_S + 1, 1);
    knock(&r, &c, true);
    expect(&r, &c, IN);
    give_token(&r, &other, NULL, UNIX_S + 1, 1);
    knock(&r, &other, true);
    expect(&r, &other, IN); // the first one has shown nothing of itself, and makes way
    cr_assert_eq(cm_used_tokens_pop_new(cm_gate_used(r.gate), used, 4), 1);
    cr_assert_eq(memcmp(used[0].id, c.token.id, sizeof used[0].id), 0);
    uint32_t connection = cm_gate_find(r.gate, other.seal.id);
    cm_gate_welcomed(r.gate, connection);
    cm_gate_welcomed(r.gate, connection);
    cm_gate_end(r.gate, connection);
    cr_assert_eq(cm_used_tokens_pop_new(cm_gate_used(r.gate), used, 4), 1);
    cr_assert_eq(memcmp(used[0].id, other.token.id, sizeof used[0].id), 0);
    cr_assert_eq(used[0].expires_unix_s, other.token.body.expires_unix_s);
    cm_gate_destroy(r.gate);
}

static uint16_t entry_of(void *context, const cm_token *token)
{
    const uint16_t *port = context;
    return strcmp(token->body.room, "arena") == 0 ? *port : 0;
}

Test(gate, a_token_for_another_worker_stays_unused)
{
    rig r;
    caller c;
    uint16_t port = 7778;
    make(&r, 11, true, 4);
    cm_gate_set_directory(r.gate, entry_of, &port);
    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    strcpy(c.token.body.room, "arena");
    knock(&r, &c, true);
    cm_gate_result result;
    receive(&r, c.from, c.connect, c.connect_size, &result);
    cr_assert_eq((int)result.verdict, CM_GATE_ANSWER);
    cr_assert_eq((int)result.reason, CM_DATAGRAM_ELSEWHERE);
    cm_refusal refusal;
    cr_assert(cm_refusal_read(result.bytes, result.size, &refusal));
    cr_assert_eq(refusal.reason, CAROM_REASON_ELSEWHERE);
    cr_assert_eq(refusal.port, 7778);
    cr_assert(cm_refusal_is_signed(&refusal, &c.seal));
    refusal.port++;
    cr_assert_not(cm_refusal_is_signed(&refusal, &c.seal));
    cr_assert_eq(cm_gate_find(r.gate, c.seal.id), CM_CONNECTION_NONE, "nothing was kept");
    port = 0; // the room comes here: the same token opens
    knock(&r, &c, true);
    expect(&r, &c, IN);
    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    knock(&r, &c, true);
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}

Test(gate, each_wrong_token_has_its_reason)
{
    rig r;
    caller c;
    make(&r, 2, true, 4);
    give_token(&r, &c, NULL, UNIX_S, 0);
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_EXPIRED, CAROM_REASON_TOKEN_EXPIRED);

    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    c.token.body.servers[0].port = 7778;
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_SERVER, CAROM_REASON_TOKEN_SERVER);
    c.token.body.servers[0] = CM_ADDRESS_IPV4(203, 0, 113, 8, 7777);
    c.sealed_size = 0;
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_SERVER, CAROM_REASON_TOKEN_SERVER);

    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    c.token.body.is_bound = true;
    memcpy(c.token.body.bound_ip, CM_ADDRESS_IPV4(10, 0, 0, 3, 0).ip, CM_ADDRESS_BYTES);
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_ADDRESS, CAROM_REASON_TOKEN_ADDRESS);
    c.token.body.bound_ip[15] = 2;
    c.sealed_size = 0;
    knock(&r, &c, true);
    expect(&r, &c, IN);

    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    c.token.body.key_id = 12; // no key of that id
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_TOKEN, CAROM_REASON_TOKEN);
    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    knock(&r, &c, false); // none at all
    expect(&r, &c, CM_DATAGRAM_TOKEN, CAROM_REASON_TOKEN);

    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    cr_assert(cm_bans_add(cm_gate_bans(r.gate), 99));
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_BANNED, CAROM_REASON_BANNED);
    cm_bans_remove(cm_gate_bans(r.gate), 99);
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}

// A token read off the wire is worth nothing without the key that its player got with it.
Test(gate, a_stolen_token_opens_nothing_and_stays_good)
{
    rig r;
    caller c, thief;
    make(&r, 3, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    knock(&r, &c, true);
    thief = c;
    memset(thief.token.key, 0, sizeof thief.token.key);
    knock(&r, &thief, true);
    expect(&r, &thief, CM_DATAGRAM_FORGED, CAROM_REASON_NONE);
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}

static cm_datagram_reason play(rig *r, cm_address from, const uint8_t *bytes, size_t size)
{
    cm_gate_result result;
    receive(r, from, bytes, size, &result);
    return result.reason;
}

// A disconnect that somebody else made, or repeats, or sends from elsewhere, ends no connection.
Test(gate, forged_disconnects_end_nothing)
{
    // ENet's datagram: head with a time, then DISCONNECT of the connection's own channel.
    static const uint8_t enet[] = {0x80, 0, 0, 9, 0x84, 0xff, 0, 1, 0, 0, 0, 0};
    static const cm_address elsewhere = CM_ADDRESS_IPV4(10, 0, 0, 2, 4001);
    rig r;
    caller c, enemy;
    make(&r, 12, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 60, 0);
    give_token(&r, &enemy, NULL, UNIX_S + 60, 0);
    knock(&r, &c, true);
    expect(&r, &c, IN);
    knock(&r, &enemy, true);
    expect(&r, &enemy, IN);
    uint8_t genuine[64], forged[64];
    memcpy(genuine + CM_SEAL_HEADER, enet, sizeof enet);
    memcpy(forged + CM_SEAL_HEADER, enet, sizeof enet);
    size_t size = cm_seal_close(&c.seal, CM_WIRE_SEALED, genuine, sizeof enet);
    cm_seal_close(&enemy.seal, CM_WIRE_SEALED, forged, sizeof enet);
    memcpy(forged + 1, genuine + 1, 4); // the enemy's, in the other's name
    cr_expect_eq((int)play(&r, c.from, enet, sizeof enet), CM_DATAGRAM_TYPE);
    cr_expect_eq((int)play(&r, c.from, forged, size), CM_DATAGRAM_FORGED);
    cr_expect_eq((int)play(&r, elsewhere, genuine, size), CM_DATAGRAM_MOVED);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(forged, genuine, size);
        forged[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_expect_neq((int)play(&r, c.from, forged, size), CM_DATAGRAM_REASON_COUNT, "%zu", bit);
    }
    cr_expect_neq(cm_gate_find(r.gate, c.seal.id), CM_CONNECTION_NONE);
    cr_expect_eq((int)play(&r, c.from, genuine, size), CM_DATAGRAM_REASON_COUNT, "its own passes");
    cr_expect_eq((int)play(&r, c.from, genuine, size), CM_DATAGRAM_REPLAY);
    cm_gate_destroy(r.gate);
}

// A server that starts again knows neither cookies nor keys of before: a token that nobody recorded
// as used (its record was lost) makes other keys out of the same client's secrets.
Test(gate, a_restart_makes_other_keys)
{
    rig before, after;
    caller c;
    make(&before, 13, true, 4);
    make(&after, 14, true, 4);
    after.keys = before.keys;
    cm_gate_set_keys(after.gate, &after.keys);
    give_token(&before, &c, NULL, UNIX_S + 60, 0);
    cm_rng chance = before.rng;
    knock(&before, &c, true);
    caller first = c;
    expect(&before, &c, IN);
    expect(&after, &c, CM_DATAGRAM_COOKIE, CAROM_REASON_NONE);
    after.rng = chance; // the client draws the same secret once more
    knock(&after, &c, true);
    expect(&after, &c, IN);
    cr_assert_arr_eq(c.secret, first.secret, CM_KEY_BYTES);
    cr_assert_arr_neq(c.seal.send_key, first.seal.send_key, CM_KEY_BYTES);
    cr_assert_arr_neq(c.seal.receive_key, first.seal.receive_key, CM_KEY_BYTES);
    cm_gate_destroy(before.gate);
    cm_gate_destroy(after.gate);
}

// Every byte of a CONNECT changed: nothing is let in, and the token is not used up by it.
Test(gate, no_changed_connect_enters)
{
    rig r;
    caller c;
    carom_reason why;
    make(&r, 4, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    knock(&r, &c, true);
    for (size_t i = 0; i < c.connect_size; i++) {
        c.connect[i] ^= 0x10;
        cr_assert_neq((int)enter(&r, &c, &why), CM_DATAGRAM_REASON_COUNT, "byte %zu", i);
        c.connect[i] ^= 0x10;
    }
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}

// Connections that show nothing of themselves make place; those that do, stay.
Test(gate, half_open_ones_make_place)
{
    rig r;
    caller first, other;
    make(&r, 5, false, 2);
    memset(&first, 0, sizeof first);
    first.from = somewhere;
    knock(&r, &first, false);
    expect(&r, &first, IN);
    uint8_t bytes[CM_DATAGRAM_MAX] = {0};
    bytes[CM_SEAL_HEADER + 1] = 1;
    cm_gate_result result;
    receive(&r, first.from, bytes, cm_seal_close(&first.seal, CM_WIRE_SEALED, bytes, 6), &result);
    cr_assert_eq((int)result.verdict, CM_GATE_PASS);
    for (uint32_t i = 0; i < 400; i++) {
        memset(&other, 0, sizeof other);
        other.from = CM_ADDRESS_IPV4(10, 0, 0, (uint8_t)(i % 250), (uint16_t)(5000 + i));
        knock(&r, &other, false);
        receive(&r, other.from, other.connect, other.connect_size, &result);
        cr_assert_eq((int)result.verdict, CM_GATE_PASS, "%u", i);
        cr_assert_eq(result.evicted_id != 0, i > 0);
        cr_assert_neq(result.evicted_id, first.seal.id);
    }
    cr_assert_neq(cm_gate_find(r.gate, first.seal.id), CM_CONNECTION_NONE);
    cm_gate_destroy(r.gate);
}

// Something sealed, as every client sends it: from then on the connection is confirmed.
static void confirm(rig *r, caller *c)
{
    uint8_t bytes[CM_DATAGRAM_MAX] = {0};
    cm_gate_result result;
    bytes[CM_SEAL_HEADER + 1] = 1;
    receive(r, c->from, bytes, cm_seal_close(&c->seal, CM_WIRE_SEALED, bytes, 6), &result);
    cr_assert_eq((int)result.verdict, CM_GATE_PASS);
}

// Those who have the keys and say no Hello fill every place; each yields after a second, the oldest
// first, and who has joined never does.
Test(gate, who_says_no_hello_makes_place)
{
    rig r;
    caller callers[8], late;
    cm_gate_result result;
    make(&r, 20, true, 8);
    for (uint32_t i = 0; i < 8; i++) {
        r.later_us += 10000;
        give_token(&r, &callers[i], NULL, UNIX_S + 1, 0);
        knock(&r, &callers[i], true);
        expect(&r, &callers[i], IN);
        confirm(&r, &callers[i]);
    }
    cm_gate_joined(r.gate, cm_gate_find(r.gate, callers[0].seal.id));
    for (uint32_t i = 1; i < 8; i++) {
        r.later_us = 10000 * (i + 1) + CM_CONNECTION_HELLO_US - 1;
        give_token(&r, &late, NULL, UNIX_S + 1, 0);
        knock(&r, &late, true);
        expect(&r, &late, CM_DATAGRAM_FULL, CAROM_REASON_ROOM_FULL);
        r.later_us++;
        give_token(&r, &late, NULL, UNIX_S + 1, 0);
        knock(&r, &late, true);
        receive(&r, late.from, late.connect, late.connect_size, &result);
        cr_assert_eq((int)result.verdict, CM_GATE_PASS);
        cr_expect_eq(result.evicted_id, callers[i].seal.id, "%u", i);
        confirm(&r, &late);
        cm_gate_joined(r.gate, cm_gate_find(r.gate, late.seal.id));
    }
    r.later_us += 100 * CM_CONNECTION_HELLO_US;
    give_token(&r, &late, NULL, UNIX_S + 200, 0);
    knock(&r, &late, true);
    expect(&r, &late, CM_DATAGRAM_FULL, CAROM_REASON_ROOM_FULL);
    cm_gate_destroy(r.gate);
}

// From all addresses together, each far below its own limit. Who has no good token spends nothing.
Test(gate, all_addresses_have_so_many_connects)
{
    rig r;
    caller c;
    carom_reason why;
    uint32_t crowd = 0, in = 0;
    make(&r, 21, true, 4);
    for (uint32_t i = 0; i < 6000; i++) {
        bool strange = i % 2 == 1;
        give_token(&r, &c, NULL, UNIX_S + 1, 0);
        c.token.body.key_id += strange ? 77 : 0;
        c.from.ip[13] ^= (uint8_t)i;
        c.from.ip[14] ^= (uint8_t)(i >> 8);
        knock(&r, &c, true);
        cm_datagram_reason reason = enter(&r, &c, &why);
        cr_assert(!strange || reason == CM_DATAGRAM_TOKEN, "%s", cm_datagram_reason_text(reason));
        crowd += reason == CM_DATAGRAM_CROWD;
        in += reason == CM_DATAGRAM_REASON_COUNT;
    }
    cr_expect_eq(crowd, 0);
    cr_expect_eq(in, 3000);
    for (uint32_t i = 0; i < 3000; i++) {
        give_token(&r, &c, NULL, UNIX_S + 1, 0);
        c.from.ip[13] ^= (uint8_t)i;
        c.from.ip[14] ^= (uint8_t)(i >> 8);
        knock(&r, &c, true);
        crowd += enter(&r, &c, &why) == CM_DATAGRAM_CROWD;
    }
    cr_expect_eq(crowd, 6000 - 4096);
    r.later_us = 100000; // it comes back with time
    give_token(&r, &c, NULL, UNIX_S + 1, 0);
    knock(&r, &c, true);
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}

// What is sealed as ENet's CONNECT is one, with two channels: ENet would take any command, and cut
// the number down or leave a peer without a channel.
Test(gate, a_connect_holds_a_connect_with_two_channels)
{
    rig r;
    caller c;
    make(&r, 22, true, 4);
    static const int channels[] = {-2, -1, 1, 100, 253};
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
        r.more_channels = channels[i];
        give_token(&r, &c, NULL, UNIX_S + 1, 0);
        knock(&r, &c, true);
        expect(&r, &c, CM_DATAGRAM_CHANNELS, CAROM_REASON_NONE);
    }
    r.more_channels = 0;
    for (r.spoils = 1; r.spoils <= 5; r.spoils += r.spoils == 1 ? 3 : 1) {
        give_token(&r, &c, NULL, UNIX_S + 1, 0);
        knock(&r, &c, true);
        expect(&r, &c, CM_DATAGRAM_REQUEST, CAROM_REASON_NONE);
    }
    cr_assert_eq(cm_gate_count(r.gate), 0);
    for (r.spoils = 6; r.spoils < 44; r.spoils++) { // nothing else of it counts
        if (r.spoils >= 20 && r.spoils < 24) {
            continue;
        }
        give_token(&r, &c, NULL, UNIX_S + 1, 0);
        knock(&r, &c, true);
        expect(&r, &c, IN);
    }
    cm_gate_destroy(r.gate);
}

// A path is probed once its client has shown that it is there: before that it would get more than
// it sent.
Test(gate, who_is_silent_is_not_probed)
{
    rig r;
    caller c;
    uint8_t probe[CM_DATAGRAM_MAX];
    make(&r, 23, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 1, 0);
    knock(&r, &c, true);
    expect(&r, &c, IN);
    uint32_t connection = cm_gate_find(r.gate, c.seal.id);
    for (uint64_t at = 0; at < 5000000; at += 100000) {
        cr_assert_eq(cm_gate_probe(r.gate, connection, NOW_US + at, probe), 0);
    }
    confirm(&r, &c);
    cr_assert_eq(cm_gate_probe(r.gate, connection, NOW_US + 5000000, probe), CM_DATAGRAM_MAX);
    cm_gate_destroy(r.gate);
}

// How many of so many connects find the gate busy.
static uint32_t connect_often(rig *r, uint32_t times)
{
    caller c;
    carom_reason why;
    uint32_t busy = 0;
    for (uint32_t i = 0; i < times; i++) {
        give_token(r, &c, NULL, UNIX_S, 0);
        knock(r, &c, true);
        busy += enter(r, &c, &why) == CM_DATAGRAM_BUSY;
    }
    return busy;
}

// One address does not keep the gate busy for the others.
Test(gate, one_address_has_so_many_connects)
{
    rig r;
    caller c;
    make(&r, 6, true, 4);
    cr_expect_eq(connect_often(&r, 2000), 2000 - 512);
    give_token(&r, &c, NULL, UNIX_S + 1, 0);
    c.from.ip[15] ^= 0x55;
    knock(&r, &c, true);
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}

static cm_address at(const char *text)
{
    cm_address address;
    return cm_address_read(text, &address) ? address : (cm_address){.port = 0};
}

// Of IPv6 a customer has a /64 at least: what one of its addresses spends, or is banned for, counts
// for all of them, and for nobody beside it.
Test(gate, a_64_counts_as_one_address)
{
    rig r;
    caller c;
    carom_reason why;
    uint32_t busy = 0;
    make(&r, 6, true, 4);
    for (uint32_t i = 0; i < 600; i++) {
        give_token(&r, &c, NULL, UNIX_S, 0);
        c.from = at("[2001:db8:0:1::1]:4000");
        c.from.ip[15] = (uint8_t)i;
        c.from.ip[8] = (uint8_t)(i >> 8);
        knock(&r, &c, true);
        busy += enter(&r, &c, &why) == CM_DATAGRAM_BUSY;
    }
    cr_expect_eq(busy, 600 - 512);
    give_token(&r, &c, NULL, UNIX_S + 1, 0);
    c.from = at("[2001:db8:0:2::1]:4000");
    knock(&r, &c, true);
    expect(&r, &c, IN);

    cr_assert(cm_bans_add(cm_gate_banned_addresses(r.gate),
                          cm_address_network(at("[2001:db8:0:3::1]:1").ip)));
    give_token(&r, &c, NULL, UNIX_S + 1, 0);
    c.from = at("[2001:db8:0:3:ffff::2]:4000"); // the neighbour
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_BANNED, CAROM_REASON_BANNED);
    cm_gate_destroy(r.gate);
}

// A cookie is for all sixteen bytes; and a token is bound to all of them.
Test(gate, each_byte_of_an_address_counts)
{
    rig r;
    caller c;
    make(&r, 6, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 1, 0);
    c.from = at("[2001:db8::1]:4000");
    knock(&r, &c, true);
    c.from.ip[7] ^= 1;
    expect(&r, &c, CM_DATAGRAM_COOKIE, CAROM_REASON_NONE);
    c.from.ip[7] ^= 1;
    c.token.body.is_bound = true;
    c.sealed_size = 0;
    memcpy(c.token.body.bound_ip, c.from.ip, CM_ADDRESS_BYTES);
    c.token.body.bound_ip[2] ^= 1;
    knock(&r, &c, true);
    expect(&r, &c, CM_DATAGRAM_ADDRESS, CAROM_REASON_TOKEN_ADDRESS);
    c.token.body.bound_ip[2] ^= 1;
    c.sealed_size = 0;
    knock(&r, &c, true);
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}

// 512 at once, then 64 a second; what is not used adds up to 512 again.
Test(gate, connects_of_an_address_come_back)
{
    rig r;
    make(&r, 15, true, 4);
    cr_expect_eq(connect_often(&r, 600), 600 - 512);
    for (uint32_t second = 1; second <= 3; second++) {
        r.later_us += 1000000;
        cr_expect_eq(connect_often(&r, 100), 100 - 64, "second %u", second);
    }
    r.later_us += 2500000;
    cr_expect_eq(connect_often(&r, 200), 200 - 160);
    r.later_us += 3600 * UINT64_C(1000000);
    cr_expect_eq(connect_often(&r, 600), 600 - 512);
    cm_gate_destroy(r.gate);
}

// The answer to a probe has two bytes inside: what is shorter gets none, and is counted.
Test(gate, a_probe_below_its_answer_gets_none)
{
    rig r;
    caller c;
    make(&r, 16, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 60, 0);
    knock(&r, &c, true);
    expect(&r, &c, IN);
    for (size_t inside = 0; inside < 4; inside++) {
        uint8_t probe[64] = {0};
        cm_gate_result result;
        size_t size = cm_seal_close(&c.seal, CM_WIRE_PROBE, probe, inside);
        receive(&r, c.from, probe, size, &result);
        cr_expect_eq((int)result.verdict, inside < 2 ? CM_GATE_REFUSED : CM_GATE_ANSWER, "%zu",
                     inside);
        cr_expect_eq((int)result.reason, inside < 2 ? CM_DATAGRAM_SHORT : CM_DATAGRAM_REASON_COUNT);
    }
    cm_gate_destroy(r.gate);
}

Test(gate, closed_and_other_versions_are_said)
{
    rig r;
    caller c;
    cm_gate_result result;
    cm_refusal refusal;
    uint8_t bytes[CM_PATH_LEAST];
    make(&r, 7, false, 4);
    memset(&c, 0, sizeof c);
    c.from = somewhere;
    knock(&r, &c, false);
    c.hello.protocol++;
    receive(&r, c.from, bytes, cm_hello_write(&c.hello, bytes), &result);
    cr_assert(cm_refusal_read(result.bytes, result.size, &refusal));
    cr_assert_eq(refusal.reason, CAROM_REASON_PROTOCOL_VERSION);
    cr_assert_not(cm_refusal_is_signed(&refusal, &c.seal));
    cm_gate_close(r.gate);
    expect(&r, &c, CM_DATAGRAM_CLOSED, CAROM_REASON_DRAINING);
    c.hello.protocol--; // a hello has no keys, so that a refusal of it would be anybody's
    knock(&r, &c, false);
    expect(&r, &c, CM_DATAGRAM_CLOSED, CAROM_REASON_DRAINING);
    cm_gate_destroy(r.gate);
}

// Random datagrams, and good ones with random changes: refused, counted, nothing kept, nothing
// answered that is longer. Fixed count; the sanitizers look for the rest.
Test(gate, random_datagrams_do_no_harm)
{
    rig r;
    caller c;
    make(&r, 8, true, 4);
    give_token(&r, &c, NULL, UNIX_S + 9, 0);
    knock(&r, &c, true);
    uint64_t passed = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t bytes[1300];
        size_t size = 1 + cm_rng_below(&r.rng, sizeof bytes);
        draw(&r.rng, bytes, size);
        if (i % 2 == 0) {
            bytes[0] = (uint8_t)(0x40 + cm_rng_below(&r.rng, 9));
        }
        if (i % 128 == 0) {
            size = c.connect_size;
            memcpy(bytes, c.connect, size);
            bytes[cm_rng_below(&r.rng, (uint32_t)size)] ^= (uint8_t)(1 + cm_rng_below(&r.rng, 255));
        }
        cm_gate_result result;
        receive(&r, somewhere, bytes, size, &result);
        passed += result.verdict == CM_GATE_PASS;
        cr_assert(result.verdict == CM_GATE_PASS || result.reason < CM_DATAGRAM_REASON_COUNT ||
                  result.verdict == CM_GATE_ANSWER);
    }
    cr_assert_eq(passed, 0);
    expect(&r, &c, IN);
    cm_gate_destroy(r.gate);
}
