// Each sample is a batch, so that the clock's own cost does not show.
#include "server/tools/bench/seal.h"

#include <stdlib.h>
#include <string.h>

#include "server/auth/gate.h"
#include "shared/wire/packet.h"

#define DATAGRAMS  256u // in a batch
#define HANDSHAKES 16u
#define NOW_US     UINT64_C(50000000)
#define UNIX_S     UINT64_C(1000)

static void measure_datagrams(size_t size, double *sealed, double *opened)
{
    static uint8_t datagrams[DATAGRAMS][CM_DATAGRAM_MAX];
    cm_seal_secrets secrets = {.token_key = {1}};
    cm_seal client, server;
    size_t plain;
    cm_seal_begin(&client, CM_SEAL_CLIENT, 9, &secrets);
    cm_seal_begin(&server, CM_SEAL_SERVER, 9, &secrets);
    double begin = cm_bench_thread_ms();
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        cm_seal_close(&client, CM_WIRE_SEALED, datagrams[i], size - CM_SEAL_OVERHEAD);
    }
    double middle = cm_bench_thread_ms();
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        (void)cm_seal_open(&server, datagrams[i], size, &plain);
    }
    *sealed = 1e3 * (middle - begin) / DATAGRAMS;
    *opened = 1e3 * (cm_bench_thread_ms() - middle) / DATAGRAMS;
}

// One client's handshake; only the two calls of the gate are timed. False: it was refused.
static bool shake(cm_gate *gate, const carom_token_key *key, uint32_t number, double *ms)
{
    cm_address from = CM_ADDRESS_IPV4(10, 0, 0, (uint8_t)(2 + number), 4000);
    uint8_t secret[CM_KEY_BYTES], bytes[CM_DATAGRAM_MAX], sealed[CM_TOKEN_MAX];
    cm_hello hello = {.protocol = CM_PROTOCOL_VERSION};
    cm_token token = {.kind = CM_TOKEN_CONNECT};
    cm_crypto_random(secret, sizeof secret);
    cm_crypto_random(token.id, sizeof token.id);
    cm_crypto_public(secret, hello.client_public);
    token.body.key_id = key->id;
    token.body.client_id = 1;
    token.body.expires_unix_s = UNIX_S + 100;
    token.body.server_count = 1;
    token.body.servers[0] = CM_ADDRESS_IPV4(127, 0, 0, 1, 9400);
    size_t sealed_size = cm_token_seal(&token, key, sealed);
    size_t size = cm_hello_write(&hello, bytes);
    cm_gate_result result;
    double begin = cm_bench_thread_ms();
    cm_gate_receive(gate, from, NOW_US, UNIX_S, bytes, size, &result);
    *ms += cm_bench_thread_ms() - begin;
    cm_challenge challenge;
    cm_seal_secrets secrets = {.token_key = {0}};
    cm_seal seal;
    if (!cm_challenge_read(result.bytes, result.size, &challenge) ||
        !cm_crypto_shared(secret, challenge.server_public, secrets.shared)) {
        return false;
    }
    memcpy(secrets.client_public, hello.client_public, CM_KEY_BYTES);
    memcpy(secrets.server_public, challenge.server_public, CM_KEY_BYTES);
    memcpy(secrets.server_random, challenge.server_random, sizeof secrets.server_random);
    cm_seal_begin(&seal, CM_SEAL_CLIENT, cm_connect_id(challenge.cookie), &secrets);
    cm_connect connect = {.cookie = challenge.cookie,
                          .client_public = hello.client_public,
                          .token = sealed,
                          .token_size = sealed_size};
    uint8_t enet[CM_ENET_CONNECT] = {0x8f, 0xff, 0, 0, 0x82, 0xff, 0, 1};
    size = cm_connect_write(&connect, enet, &seal, bytes);
    begin = cm_bench_thread_ms();
    cm_gate_receive(gate, from, NOW_US, UNIX_S, bytes, size, &result);
    *ms += cm_bench_thread_ms() - begin;
    if (result.verdict == CM_GATE_PASS) {
        cm_gate_end(gate, result.connection);
    }
    return result.verdict == CM_GATE_PASS;
}

carom_result cm_seal_bench_measure(uint32_t runs, size_t size, cm_seal_bench *bench)
{
    static const carom_token_keys keys = {1, {{7, {1, 2, 3}}}};
    static const cm_address here = CM_ADDRESS_IPV4(127, 0, 0, 1, 9400);
    cm_gate_def def = {.keys = &keys, .connections = 64};
    cm_crypto_random(def.chance, sizeof def.chance);
    cm_gate *gate = cm_gate_create(&def);
    double *samples = calloc(3 * (size_t)runs, sizeof *samples);
    carom_result result = gate != NULL && samples != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    if (gate != NULL) {
        cm_gate_set_addresses(gate, &here, 1);
    }
    for (uint32_t run = 0; run < runs && result == CAROM_OK; run++) {
        double ms = 0.0;
        measure_datagrams(size, &samples[run], &samples[runs + run]);
        for (uint32_t i = 0; i < HANDSHAKES && result == CAROM_OK; i++) {
            result = shake(gate, &keys.keys[0], run * HANDSHAKES + i, &ms) ? CAROM_OK
                                                                           : CAROM_ERROR_STATE;
        }
        samples[2 * runs + run] = 1e3 * ms / HANDSHAKES;
    }
    if (result == CAROM_OK) {
        cm_samples_summarise(samples, runs, &bench->seal);
        cm_samples_summarise(samples + runs, runs, &bench->open);
        cm_samples_summarise(samples + 2 * runs, runs, &bench->handshake);
    }
    cm_gate_destroy(gate);
    free(samples);
    return result;
}
