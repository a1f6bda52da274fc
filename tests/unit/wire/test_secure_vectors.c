// Goal: the bytes of tokens, handshake and seal are the ones recorded in tests/protocol/vectors,
// which a second reader, written from PROTOCOL.md alone, opens as well (tests/protocol/secure.py).
// Method: one whole handshake from a seed, both ends, with all secrets recorded beside it.
#include <criterion/criterion.h>
#include <string.h>

#include "shared/base/rng.h"
#include "shared/wire/control.h"
#include "shared/wire/frame.h"
#include "tests/unit/wire/vector_text.h"

static void draw(cm_rng *rng, void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)(cm_rng_next(rng) >> 24);
    }
}

static void put(vector_text *out, const char *name, const void *bytes, size_t size)
{
    vector_put(out, ",\n  \"%s\": ", name);
    vector_hex(out, bytes, size);
}

static void make_token(cm_rng *rng, cm_token *token, carom_token_key *key)
{
    memset(token, 0, sizeof *token);
    token->kind = CM_TOKEN_CONNECT;
    token->body.client_id = UINT64_C(0xfedcba9876543210);
    token->body.expires_unix_s = 2000000000;
    token->body.server_count = 2;
    token->body.servers[0] = CM_ADDRESS_IPV4(203, 0, 113, 7, 7777);
    token->body.servers[1] = CM_ADDRESS_IPV4(127, 0, 0, 1, 65535);
    token->body.is_bound = true;
    memcpy(token->body.bound_ip, CM_ADDRESS_IPV4(10, 0, 0, 9, 0).ip, CM_ADDRESS_BYTES);
    strcpy(token->body.room, "arena");
    strcpy(token->body.name, "Zo\xc3\xab");
    token->body.user_data_size = 3;
    memcpy(token->body.user_data, (uint8_t[3]){0, 1, 255}, 3);
    key->id = token->body.key_id = 305419896;
    draw(rng, key->secret, sizeof key->secret);
    draw(rng, token->id, sizeof token->id);
    draw(rng, token->key, sizeof token->key);
}

// The same token with other addresses: format 2.
static void put_token_2(vector_text *out, cm_token token, const carom_token_key *key)
{
    cm_token_pass pass = {.server_count = 2};
    char text[CAROM_TOKEN_TEXT_MAX];
    token.id[0] ^= 1; // no nonce twice
    cr_assert(cm_address_read("[2001:db8::7]:7777", &token.body.servers[0]));
    cr_assert(cm_address_read_ip("2001:db8:0:1:2:3:4:5", token.body.bound_ip));
    memcpy(pass.servers, token.body.servers, sizeof pass.servers);
    memcpy(pass.key, token.key, sizeof pass.key);
    pass.sealed_size = cm_token_seal(&token, key, pass.sealed);
    cr_assert(cm_token_pass_write(&pass, text, sizeof text));
    vector_put(out, ",\n  \"token_2\": \"%s\"", text);
}

// What a CONNECT of ENet's has that a server goes by; the rest is drawn.
static void make_enet_connect(cm_rng *rng, uint8_t enet[CM_ENET_CONNECT])
{
    static const struct {
        uint8_t at, byte;
    } fixed[] = {{0, 0x8f}, {1, 0xff},  {4, 0x82},  {5, 0xff}, {6, 0},  {7, 1},  {8, 0},
                 {9, 0},    {10, 0xff}, {11, 0xff}, {20, 0},   {21, 0}, {22, 0}, {23, 2}};
    draw(rng, enet, CM_ENET_CONNECT);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        enet[fixed[i].at] = fixed[i].byte;
    }
    cr_assert(cm_frame_is_connect(enet));
    cr_assert_eq(cm_frame_channels(enet), CM_FRAME_CHANNELS);
}

static void put_sealed(vector_text *out, cm_seal *client, cm_seal *server)
{
    static const uint8_t head[8] = {0x80, 0, 0x12, 0x34, 0, 0, 0, 0}; // with a time, and a checksum
    static const uint8_t ping[4] = {0x85, 0xff, 0, 1};
    cm_frame_part parts[2] = {{head, sizeof head}, {ping, sizeof ping}};
    uint8_t bytes[CM_DATAGRAM_MAX];
    for (uint32_t i = 0; i < 2; i++) {
        put(out, i == 0 ? "client_0" : "client_1", bytes, cm_frame_seal(client, parts, 2, bytes));
    }
    put(out, "server_0", bytes, cm_frame_seal(server, parts, 2, bytes));
    put(out, "probe", bytes, cm_frame_probe(server, 600, bytes));
    put(out, "probed", bytes, cm_frame_probed(client, 600, bytes));
    put(out, "probe_64", bytes, cm_frame_probe(server, 64, bytes));
    put(out, "content", (uint8_t[8]){0x80, 0, 0x12, 0x34, 0x85, 0xff, 0, 1}, 8);
}

static void put_rooms(vector_text *out, const uint8_t echo[CM_ECHO_BYTES])
{
    const cm_control_room room = {"lobby", "sandbox", "sandbox", 2, 8, 9400};
    const cm_control rooms = {
        .type = CM_CONTROL_ROOMS, .first = 258, .total = 259, .rooms = &room, .room_count = 1};
    uint8_t bytes[CM_PATH_LEAST] = {CM_WIRE_ROOMS}, *message;
    size_t size;
    cr_assert_eq(cm_control_encode(&rooms, NULL, &message, &size), CAROM_OK);
    memcpy(bytes + 1, echo, CM_ECHO_BYTES);
    memcpy(bytes + CM_ROOMS_HEADER, message, size);
    put(out, "rooms", bytes, CM_ROOMS_HEADER + size);
    cm_control_release_bytes(NULL, message);
}

Test(vectors, secure)
{
    vector_text out = {.first = true};
    cm_rng rng;
    cm_rng_seed(&rng, 2026);
    cm_token token;
    carom_token_key key;
    make_token(&rng, &token, &key);
    cm_token_pass pass = {.server_count = 2};
    memcpy(pass.servers, token.body.servers, sizeof pass.servers);
    memcpy(pass.key, token.key, sizeof pass.key);
    pass.sealed_size = cm_token_seal(&token, &key, pass.sealed);
    char text[CAROM_TOKEN_TEXT_MAX];
    cr_assert(cm_token_pass_write(&pass, text, sizeof text));
    vector_put(&out, "{\"token_key_id\": %u, \"token\": \"%s\"", (unsigned)key.id, text);
    put(&out, "token_key", key.secret, sizeof key.secret);
    put_token_2(&out, token, &key);

    uint8_t chance[2 * CM_KEY_BYTES], secret[CM_KEY_BYTES], bytes[CM_PATH_LEAST];
    cm_cookie_jar jar;
    draw(&rng, chance, sizeof chance);
    cm_cookie_jar_init(&jar, chance);
    draw(&rng, secret, sizeof secret);
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    cm_crypto_public(secret, hello.client_public);
    put(&out, "client_secret", secret, sizeof secret);
    put(&out, "server_secret", jar.secret, sizeof jar.secret);
    put(&out, "hello", bytes, cm_hello_write(&hello, bytes));
    cm_challenge challenge;
    cm_address from = CM_ADDRESS_IPV4(127, 0, 0, 1, 40000);
    cm_cookie_challenge(&jar, from, hello.client_public, 5000000, &challenge);
    put(&out, "challenge", bytes, cm_challenge_write(&challenge, bytes));
    cm_refusal refusal = {.reason = CAROM_REASON_ELSEWHERE, .port = 9400};
    memcpy(refusal.echo, hello.client_public, sizeof refusal.echo);
    put(&out, "hint", bytes, cm_refusal_write(&refusal, bytes));

    const cm_connect ask = {.cookie = challenge.cookie, .client_public = hello.client_public};
    put(&out, "rooms_ask", bytes, cm_rooms_ask_write(&ask, 258, bytes));
    put_rooms(&out, hello.client_public);

    cm_seal_secrets secrets;
    memcpy(secrets.token_key, token.key, CM_KEY_BYTES);
    memcpy(secrets.client_public, hello.client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, jar.public_key, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    cr_assert(cm_crypto_shared(secret, jar.public_key, secrets.shared));
    cm_seal client, server;
    cm_seal_begin(&client, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    cm_seal_begin(&server, CM_SEAL_SERVER, cm_connect_id(challenge.cookie), &secrets);
    uint8_t enet[CM_ENET_CONNECT];
    make_enet_connect(&rng, enet);
    cm_connect connect = {.attempt = 3,
                          .cookie = challenge.cookie,
                          .client_public = hello.client_public,
                          .token = pass.sealed,
                          .token_size = pass.sealed_size};
    put(&out, "enet_connect", enet, CM_CONNECT_SEALED);
    put(&out, "connect", bytes, cm_connect_write(&connect, enet, &client, bytes));
    cm_refusal_sign(&refusal, &server);
    cr_assert(cm_refusal_is_signed(&refusal, &client));
    put(&out, "refusal", bytes, cm_refusal_write(&refusal, bytes));
    put_sealed(&out, &client, &server);
    vector_put(&out, "}\n");
    vector_finish(&out, "secure");
}
