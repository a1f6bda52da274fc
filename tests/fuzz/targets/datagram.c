// What comes from the network, before anybody is known: cm_gate_receive of any bytes.
//
// Goal: no fault, no answer larger than what came, no slot for anybody without a token. Method:
// libFuzzer; the first byte chooses: the bytes as they are; a CONNECT of them with a cookie that is
// right (a stranger may have one); the same with a token that a backend sealed and whose inside
// they are; or sealed by a client that is connected, which gets them to the frame and the commands
// behind it. Time goes on, so that an address may connect again and again.
#include <stdlib.h>
#include <string.h>

#include "server/transport/enet/commands.h"
#include "server/auth/gate.h"
#include "shared/base/assert.h"
#include "shared/wire/packet.h"

#define STEP_US UINT64_C(20000) // between two datagrams: an address may connect 64 times a second
#define UNIX_S  UINT64_C(1000)

enum { AS_IT_IS, WITH_COOKIE, SEALED, WITH_TOKEN, KINDS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const cm_address somewhere = CM_ADDRESS_IPV4(10, 0, 0, 2, 4000);
static const carom_token_keys keys = {1, {{7, {1, 2, 3}}}};
static cm_gate *gate;
static cm_seal client; // of the one that is connected
static uint64_t now_us = UINT64_C(50000000);

static void receive(uint8_t *bytes, size_t size, cm_gate_result *result)
{
    cm_gate_receive(gate, somewhere, now_us, UNIX_S, bytes, size, result);
    if (result->verdict == CM_GATE_ANSWER) {
        CM_ASSERT(result->size <= size);
    }
}

static void ask(const cm_hello *hello, cm_challenge *challenge)
{
    uint8_t bytes[CM_HELLO_BYTES];
    cm_gate_result result;
    receive(bytes, cm_hello_write(hello, bytes), &result);
    CM_ASSERT(result.verdict == CM_GATE_ANSWER);
    CM_ASSERT(cm_challenge_read(result.bytes, result.size, challenge));
}

// A hello, its challenge, a token, a CONNECT: as a client of ours does it.
static void connect_client(void)
{
    uint8_t secret[CM_KEY_BYTES] = {9}, bytes[CM_DATAGRAM_MAX], sealed[CM_TOKEN_MAX];
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    cm_challenge challenge;
    cm_gate_result result;
    cm_crypto_public(secret, hello.client_public);
    ask(&hello, &challenge);
    cm_token token = {.kind = CM_TOKEN_CONNECT, .id = {5}, .key = {6}};
    token.body.key_id = 7;
    token.body.client_id = 99;
    token.body.expires_unix_s = UNIX_S + 100;
    token.body.server_count = 1;
    token.body.servers[0] = CM_ADDRESS_IPV4(127, 0, 0, 1, 9400);
    size_t sealed_size = cm_token_seal(&token, &keys.keys[0], sealed);
    cm_seal_secrets secrets;
    memcpy(secrets.token_key, token.key, CM_KEY_BYTES);
    memcpy(secrets.client_public, hello.client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, challenge.server_public, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    CM_ASSERT(cm_crypto_shared(secret, challenge.server_public, secrets.shared));
    cm_seal_begin(&client, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    cm_connect connect = {.cookie = challenge.cookie,
                          .client_public = hello.client_public,
                          .token = sealed,
                          .token_size = sealed_size};
    uint8_t enet[CM_ENET_CONNECT] = {0x8f, 0xff, 0, 0, 0x82, 0xff, 0, 1, [23] = 2};
    receive(bytes, cm_connect_write(&connect, enet, &client, bytes), &result);
    CM_ASSERT(result.verdict == CM_GATE_PASS);
}

static void make_door(void)
{
    cm_gate_def def = {.keys = &keys, .connections = 4, .chance = {1}};
    cm_address here = CM_ADDRESS_IPV4(127, 0, 0, 1, 9400);
    gate = cm_gate_create(&def);
    CM_ASSERT(gate != NULL);
    cm_gate_set_addresses(gate, &here, 1);
    connect_client();
}

static void fuzz_sealed(uint8_t *bytes, const uint8_t *data, size_t size)
{
    cm_gate_result result;
    size_t plain =
        size < CM_DATAGRAM_MAX - CM_SEAL_OVERHEAD ? size : CM_DATAGRAM_MAX - CM_SEAL_OVERHEAD;
    memcpy(bytes + CM_SEAL_HEADER, data, plain);
    uint8_t type = (uint8_t)(CM_WIRE_SEALED + (plain > 0 ? data[0] >> 4 : 0) % 3);
    receive(bytes, cm_seal_close(&client, type, bytes, plain), &result);
    if (result.verdict == CM_GATE_PASS) {
        cm_command_context context = {.reliable = 3};
        cm_command_count count;
        (void)cm_commands_check(result.bytes, result.size, &context, &count);
    }
}

// A CONNECT whose client's public key and token are the fuzzer's, and its cookie the right one.
static void fuzz_connect(uint8_t *bytes, const uint8_t *token, size_t token_size)
{
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    cm_challenge challenge;
    cm_gate_result result;
    memcpy(hello.client_public, token, token_size < CM_KEY_BYTES ? token_size : CM_KEY_BYTES);
    ask(&hello, &challenge);
    cm_seal seal = {.send_key = {1}};
    cm_connect connect = {.cookie = challenge.cookie,
                          .client_public = hello.client_public,
                          .token = token,
                          .token_size = token_size < CM_TOKEN_MAX ? token_size : CM_TOKEN_MAX};
    uint8_t enet[CM_ENET_CONNECT] = {0x8f, 0xff, 0, 0, 0x82, 0xff, 0, 1, [23] = 2};
    receive(bytes, cm_connect_write(&connect, enet, &seal, bytes), &result);
    CM_ASSERT(result.verdict != CM_GATE_PASS);
}

static void fuzz_token(uint8_t *bytes, const uint8_t *data, size_t size)
{
    uint8_t token[CM_TOKEN_MAX] = {CM_TOKEN_CONNECT, 7, 0, 0, 0, 0xff, 0xff};
    size_t plain = size < CM_TOKEN_PLAIN_MAX ? size : CM_TOKEN_PLAIN_MAX;
    memcpy(token + CM_TOKEN_HEADER, data, plain);
    cm_crypto_token_seal(token + CM_TOKEN_HEADER, plain, token, CM_TOKEN_HEADER, token + 13,
                         keys.keys[0].secret);
    fuzz_connect(bytes, token, CM_TOKEN_HEADER + plain + CM_TAG_BYTES);
}

static void fuzz_raw(const uint8_t *data, size_t size)
{
    cm_gate_result result;
    uint8_t *exact = malloc(size > 0 ? size : 1);
    CM_ASSERT(exact != NULL);
    if (size > 0) {
        memcpy(exact, data, size);
    }
    receive(exact, size, &result);
    CM_ASSERT(result.verdict != CM_GATE_PASS);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + CM_DATAGRAM_MAX); // so that what is behind it is guarded
    CM_ASSERT(bytes != NULL);
    if (gate == NULL) {
        make_door();
    }
    now_us += STEP_US;
    uint8_t kind = size > 0 ? data[0] % KINDS : KINDS;
    if (kind == AS_IT_IS) {
        fuzz_raw(data + 1, size - 1);
    } else if (kind == WITH_COOKIE) {
        fuzz_connect(bytes, data + 1, size - 1);
    } else if (kind == WITH_TOKEN) {
        fuzz_token(bytes, data + 1, size - 1);
    } else if (kind == SEALED) {
        fuzz_sealed(bytes, data + 1, size - 1);
    }
    free(bytes);
    for (uint32_t i = 1; i < 4; i++) {
        CM_ASSERT(!cm_gate_exists(gate, i));
    }
    return 0;
}
