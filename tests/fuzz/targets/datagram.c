// What comes from the network, before anybody is known: cm_door_receive of any bytes.
//
// Goal: no fault, no answer larger than what came, no slot for anybody without a token. Method:
// libFuzzer; the first byte chooses: the bytes as they are, with a cookie that is right (a stranger
// may have one), or sealed by a client that is connected, which gets them to the frame and the
// commands behind it.
#include <stdlib.h>
#include <string.h>

#include "server/host/commands.h"
#include "server/host/door.h"
#include "shared/base/assert.h"
#include "shared/wire/packet.h"

#define NOW_US UINT64_C(50000000)
#define UNIX_S UINT64_C(1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const cm_client_address somewhere = {0x0200000a, 4000};
static const carom_token_keys keys = {1, {{7, {1, 2, 3}}}};
static cm_door *door;
static cm_seal client; // of the one that is connected
static cm_challenge challenge;

static void receive(uint8_t *bytes, size_t size, cm_door_result *result)
{
    cm_door_receive(door, somewhere, NOW_US, UNIX_S, bytes, size, result);
    if (result->verdict == CM_DOOR_ANSWER) {
        CM_ASSERT(result->size <= size);
    }
}

// A hello, its challenge, a token, a CONNECT: as a client of ours does it.
static void connect_client(void)
{
    uint8_t secret[CM_KEY_BYTES] = {9}, bytes[CM_DATAGRAM_MAX], sealed[CM_TOKEN_MAX];
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    cm_crypto_public(secret, hello.client_public);
    cm_door_result result;
    receive(bytes, cm_hello_write(&hello, bytes), &result);
    CM_ASSERT(result.verdict == CM_DOOR_ANSWER);
    CM_ASSERT(cm_challenge_read(result.bytes, result.size, &challenge));
    cm_token token = {.kind = CM_TOKEN_CONNECT, .id = {5}, .key = {6}};
    token.body.key_id = 7;
    token.body.client_id = 99;
    token.body.expires_unix_s = UNIX_S + 100;
    token.body.server_count = 1;
    token.body.servers[0] = (carom_token_address){{127, 0, 0, 1}, 9400};
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
    uint8_t enet[CM_ENET_CONNECT] = {0x8f, 0xff, 0, 0, 0x82, 0xff, 0, 1};
    receive(bytes, cm_connect_write(&connect, enet, &client, bytes), &result);
    CM_ASSERT(result.verdict == CM_DOOR_PASS);
}

static void make_door(void)
{
    cm_door_def def = {.keys = &keys, .connections = 4, .chance = {1}};
    carom_token_address here = {{127, 0, 0, 1}, 9400};
    door = cm_door_create(&def);
    CM_ASSERT(door != NULL);
    cm_door_set_addresses(door, &here, 1);
    connect_client();
}

static void fuzz_sealed(uint8_t *bytes, const uint8_t *data, size_t size)
{
    cm_door_result result;
    size_t plain =
        size < CM_DATAGRAM_MAX - CM_SEAL_OVERHEAD ? size : CM_DATAGRAM_MAX - CM_SEAL_OVERHEAD;
    memcpy(bytes + CM_SEAL_HEADER, data, plain);
    uint8_t type = (uint8_t)(CM_WIRE_SEALED + (plain > 0 ? data[0] >> 4 : 0) % 3);
    receive(bytes, cm_seal_close(&client, type, bytes, plain), &result);
    if (result.verdict == CM_DOOR_PASS) {
        cm_command_context context = {.reliable = 3};
        cm_command_count count;
        (void)cm_commands_check(result.bytes, result.size, &context, &count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + CM_DATAGRAM_MAX); // so that what is behind it is guarded
    cm_door_result result;
    CM_ASSERT(bytes != NULL);
    if (door == NULL) {
        make_door();
    }
    if (size > 0 && data[0] % 3 == 2) {
        fuzz_sealed(bytes, data + 1, size - 1);
    } else if (size > 0) {
        uint8_t *exact = malloc(size);
        CM_ASSERT(exact != NULL);
        memcpy(exact, data + 1, size - 1);
        if (data[0] % 3 == 1 && size > 1 + CM_CONNECT_LEAST) {
            cm_hello hello;
            memcpy(hello.client_public, exact + 10, CM_KEY_BYTES);
            cm_hello_write(&hello, bytes);
            exact[0] = CM_WIRE_CONNECT;
            for (uint32_t i = 0; i < 8; i++) {
                exact[2 + i] = (uint8_t)(challenge.cookie >> (8 * i));
            }
        }
        receive(exact, size - 1, &result);
        CM_ASSERT(result.verdict != CM_DOOR_PASS);
        free(exact);
    }
    free(bytes);
    for (uint32_t i = 1; i < 4; i++) {
        CM_ASSERT(!cm_door_exists(door, i));
    }
    return 0;
}
