// Goal: a whole handshake gives both ends the same keys; a server answers without keeping anything,
// with less than came in, and takes back only what it gave to that address. Method: both ends in
// one function, chance from seeds, the clock as an argument; changed bytes, addresses and times.
#include "shared/base/rng.h"
#include "shared/wire/handshake.h"

#include <criterion/criterion.h>
#include <string.h>

static void draw(cm_rng *rng, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)cm_rng_next(rng);
    }
}

typedef struct rig {
    cm_rng rng;
    cm_cookie_jar jar;
    cm_address address;
    uint8_t secret[CM_KEY_BYTES], token[CM_TOKEN_MAX], token_key[CM_KEY_BYTES];
    size_t token_size;
    cm_hello hello;
    uint8_t enet[CM_ENET_CONNECT];
    cm_seal client;
    uint8_t connect[CM_PATH_LEAST];
    size_t connect_size;
} rig;

// The client's side up to its CONNECT; the server's up to the challenge.
static void knock(rig *r, uint64_t seed, size_t token_size, uint64_t now_us)
{
    memset(r, 0, sizeof *r);
    cm_rng_seed(&r->rng, seed);
    uint8_t chance[2 * CM_KEY_BYTES];
    draw(&r->rng, chance, sizeof chance);
    cm_cookie_jar_init(&r->jar, chance);
    draw(&r->rng, r->secret, sizeof r->secret);
    draw(&r->rng, r->token, sizeof r->token);
    draw(&r->rng, r->token_key, sizeof r->token_key);
    draw(&r->rng, r->enet, sizeof r->enet);
    r->token_size = token_size;
    r->address = CM_ADDRESS_IPV4(127, 0, 0, 1, 40000);
    cm_crypto_public(r->secret, r->hello.client_public);
    r->hello.protocol = 3;

    uint8_t bytes[CM_PATH_LEAST];
    cm_hello hello;
    cm_challenge made, challenge;
    cr_assert(cm_hello_read(bytes, cm_hello_write(&r->hello, bytes), &hello));
    cr_assert_eq(hello.protocol, 3);
    cm_cookie_challenge(&r->jar, r->address, hello.client_public, now_us, &made);
    size_t size = cm_challenge_write(&made, bytes);
    cr_assert_leq(4 * size, CM_HELLO_BYTES);
    cr_assert(cm_challenge_read(bytes, size, &challenge));
    cr_assert_arr_eq(challenge.echo, r->hello.client_public, CM_ECHO_BYTES);

    cm_seal_secrets secrets;
    memset(&secrets, 0, sizeof secrets);
    memcpy(secrets.token_key, r->token_key, CM_KEY_BYTES);
    memcpy(secrets.client_public, r->hello.client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, challenge.server_public, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    cr_assert(cm_crypto_shared(r->secret, challenge.server_public, secrets.shared));
    cm_seal_begin(&r->client, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    cm_connect connect = {.attempt = 2,
                          .cookie = challenge.cookie,
                          .client_public = r->hello.client_public,
                          .token = r->token,
                          .token_size = token_size};
    r->connect_size = cm_connect_write(&connect, r->enet, &r->client, r->connect);
}

// The server's side of the CONNECT: true with keys, and what ENet gets.
static bool answer(const rig *r, const uint8_t *bytes, size_t size, cm_address from,
                   uint64_t now_us, cm_seal *server, uint8_t enet[CM_ENET_CONNECT])
{
    cm_connect connect;
    cm_seal_secrets secrets;
    memset(&secrets, 0, sizeof secrets);
    if (!cm_connect_read(bytes, size, &connect) ||
        !cm_cookie_check(&r->jar, from, &connect, now_us, secrets.server_random)) {
        return false;
    }
    memcpy(secrets.token_key, r->token_key, CM_KEY_BYTES); // what the token would say
    memcpy(secrets.client_public, connect.client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, r->jar.public_key, CM_KEY_BYTES);
    if (!cm_crypto_shared(r->jar.secret, connect.client_public, secrets.shared)) {
        return false;
    }
    cm_seal_begin(server, CM_SEAL_SERVER, cm_connect_id(connect.cookie), &secrets);
    return cm_connect_open(&connect, bytes, size, server, enet);
}

Test(handshake, ends_with_the_same_keys)
{
    static const size_t sizes[] = {0, 100, CM_TOKEN_MAX};
    for (size_t i = 0; i < 3; i++) {
        rig r;
        knock(&r, 10 + i, sizes[i], 5000000);
        cr_assert_eq(r.connect_size, CM_CONNECT_LEAST + sizes[i]);
        cr_assert_leq(r.connect_size, 548);
        cm_seal server;
        uint8_t enet[CM_ENET_CONNECT];
        cr_assert(answer(&r, r.connect, r.connect_size, r.address, 5000000, &server, enet));
        cr_assert_arr_eq(enet, r.enet, CM_CONNECT_SEALED);
        cr_assert_arr_eq(server.send_key, r.client.receive_key, CM_KEY_BYTES);
        cr_assert_arr_eq(server.receive_key, r.client.send_key, CM_KEY_BYTES);
        // The id, as ENet's connectID lies in memory.
        uint32_t id = (uint32_t)enet[44] | (uint32_t)enet[45] << 8 | (uint32_t)enet[46] << 16 |
                      (uint32_t)enet[47] << 24;
        cr_assert_eq(id, server.id);
        cr_assert_neq(id, 0);
    }
}

Test(handshake, any_change_is_refused)
{
    rig r;
    knock(&r, 20, 60, 5000000);
    cm_seal server;
    uint8_t enet[CM_ENET_CONNECT];
    for (size_t bit = 0; bit < 8 * r.connect_size; bit++) {
        r.connect[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_not(answer(&r, r.connect, r.connect_size, r.address, 5000000, &server, enet),
                      "bit %zu", bit);
        r.connect[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < r.connect_size; cut++) {
        cr_assert_not(answer(&r, r.connect, cut, r.address, 5000000, &server, enet));
    }
}

// A cookie is of one address and 10 to 20 seconds.
Test(handshake, cookie_is_bound)
{
    rig r;
    knock(&r, 30, 0, 5000000);
    cm_seal server;
    uint8_t enet[CM_ENET_CONNECT];
    cm_address port = r.address, host = r.address;
    port.port++;
    host.ip[15] ^= 1;
    cr_assert_not(answer(&r, r.connect, r.connect_size, port, 5000000, &server, enet));
    cr_assert_not(answer(&r, r.connect, r.connect_size, host, 5000000, &server, enet));
    cr_assert(answer(&r, r.connect, r.connect_size, r.address, 19999999, &server, enet));
    cr_assert_not(answer(&r, r.connect, r.connect_size, r.address, 20000000, &server, enet));
    // Another process: another jar.
    uint8_t chance[2 * CM_KEY_BYTES] = {1};
    cm_cookie_jar_init(&r.jar, chance);
    cr_assert_not(answer(&r, r.connect, r.connect_size, r.address, 5000000, &server, enet));
}

// A public key of low order makes no secret: both ends would agree on zeros.
Test(handshake, weak_keys_are_refused)
{
    uint8_t secret[CM_KEY_BYTES] = {7}, weak[CM_KEY_BYTES] = {0}, shared[CM_KEY_BYTES];
    cr_assert_not(cm_crypto_shared(secret, weak, shared));
    weak[0] = 1;
    cr_assert_not(cm_crypto_shared(secret, weak, shared));
}

Test(handshake, other_sizes_are_no_datagrams_of_it)
{
    rig r;
    knock(&r, 40, 0, 0);
    uint8_t bytes[CM_PATH_LEAST + 1] = {0};
    cm_hello hello;
    cm_hello_write(&r.hello, bytes);
    cr_assert_not(cm_hello_read(bytes, CM_HELLO_BYTES - 1, &hello));
    cr_assert_not(cm_hello_read(bytes, CM_HELLO_BYTES + 1, &hello));
    cm_refusal refusal = {{1, 2, 3}, 8, 0, {4}}, back;
    cr_assert_eq(cm_refusal_write(&refusal, bytes), CM_REFUSAL_BYTES);
    cr_assert(cm_refusal_read(bytes, CM_REFUSAL_BYTES, &back));
    cr_assert_eq(back.reason, 8);
    cr_assert_eq(back.tag[0], 4);
    cr_assert_not(cm_refusal_read(bytes, CM_REFUSAL_BYTES - 1, &back));
    cm_challenge challenge;
    cr_assert_not(cm_challenge_read(bytes, CM_CHALLENGE_BYTES, &challenge));
}
