// The datagrams of the handshake, and the cookie: a keyed hash of who asked and when, so that the
// server knows its own answer again. Pure: chance and time are arguments.
#include "shared/wire/handshake.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

size_t cm_hello_write(const cm_hello *hello, uint8_t bytes[CM_HELLO_BYTES])
{
    memset(bytes, 0, CM_HELLO_BYTES);
    cm_byte_writer writer = cm_byte_writer_make(bytes, CM_HELLO_BYTES);
    cm_put_u8(&writer, CM_WIRE_HELLO);
    cm_put_u32(&writer, hello->protocol);
    cm_put_bytes(&writer, hello->client_public, CM_KEY_BYTES);
    return CM_HELLO_BYTES;
}

bool cm_hello_read(const uint8_t *bytes, size_t size, cm_hello *hello)
{
    if (size != CM_HELLO_BYTES || bytes[0] != CM_WIRE_HELLO) {
        return false;
    }
    cm_byte_reader reader = cm_byte_reader_make(bytes + 1, size - 1);
    hello->protocol = cm_get_u32(&reader);
    memcpy(hello->client_public, cm_get_bytes(&reader, CM_KEY_BYTES), CM_KEY_BYTES);
    // The zeros are not looked at: a later version may put something there.
    return true;
}

size_t cm_challenge_write(const cm_challenge *challenge, uint8_t bytes[CM_CHALLENGE_BYTES])
{
    cm_byte_writer writer = cm_byte_writer_make(bytes, CM_CHALLENGE_BYTES);
    cm_put_u8(&writer, CM_WIRE_CHALLENGE);
    cm_put_bytes(&writer, challenge->echo, CM_ECHO_BYTES);
    cm_put_u64(&writer, challenge->cookie);
    cm_put_bytes(&writer, challenge->server_public, CM_KEY_BYTES);
    cm_put_bytes(&writer, challenge->server_random, sizeof challenge->server_random);
    CM_ASSERT(writer.size == CM_CHALLENGE_BYTES);
    return writer.size;
}

bool cm_challenge_read(const uint8_t *bytes, size_t size, cm_challenge *challenge)
{
    if (size != CM_CHALLENGE_BYTES || bytes[0] != CM_WIRE_CHALLENGE) {
        return false;
    }
    cm_byte_reader reader = cm_byte_reader_make(bytes + 1, size - 1);
    memcpy(challenge->echo, cm_get_bytes(&reader, CM_ECHO_BYTES), CM_ECHO_BYTES);
    challenge->cookie = cm_get_u64(&reader);
    memcpy(challenge->server_public, cm_get_bytes(&reader, CM_KEY_BYTES), CM_KEY_BYTES);
    memcpy(challenge->server_random, cm_get_bytes(&reader, sizeof challenge->server_random),
           sizeof challenge->server_random);
    return cm_connect_id(challenge->cookie) != 0;
}

#define REFUSAL_TAGGED (CM_REFUSAL_BYTES - CM_TAG_BYTES)

size_t cm_refusal_write(const cm_refusal *refusal, uint8_t bytes[CM_REFUSAL_BYTES])
{
    bytes[0] = CM_WIRE_REFUSAL;
    memcpy(bytes + 1, refusal->echo, CM_ECHO_BYTES);
    bytes[1 + CM_ECHO_BYTES] = refusal->reason;
    bytes[2 + CM_ECHO_BYTES] = (uint8_t)refusal->port;
    bytes[3 + CM_ECHO_BYTES] = (uint8_t)(refusal->port >> 8);
    memcpy(bytes + REFUSAL_TAGGED, refusal->tag, CM_TAG_BYTES);
    return CM_REFUSAL_BYTES;
}

bool cm_refusal_read(const uint8_t *bytes, size_t size, cm_refusal *refusal)
{
    if (size != CM_REFUSAL_BYTES || bytes[0] != CM_WIRE_REFUSAL) {
        return false;
    }
    memcpy(refusal->echo, bytes + 1, CM_ECHO_BYTES);
    refusal->reason = bytes[1 + CM_ECHO_BYTES];
    refusal->port = (uint16_t)(bytes[2 + CM_ECHO_BYTES] | bytes[3 + CM_ECHO_BYTES] << 8);
    memcpy(refusal->tag, bytes + REFUSAL_TAGGED, CM_TAG_BYTES);
    return true;
}

static void refusal_tag(const cm_refusal *refusal, const cm_seal *seal, uint8_t tag[CM_TAG_BYTES])
{
    uint8_t bytes[CM_REFUSAL_BYTES];
    cm_refusal_write(refusal, bytes);
    cm_crypto_hash(tag, CM_TAG_BYTES, bytes, REFUSAL_TAGGED,
                   seal->side == CM_SEAL_SERVER ? seal->send_key : seal->receive_key);
}

void cm_refusal_sign(cm_refusal *refusal, const cm_seal *seal)
{
    refusal_tag(refusal, seal, refusal->tag);
}

bool cm_refusal_is_signed(const cm_refusal *refusal, const cm_seal *seal)
{
    uint8_t tag[CM_TAG_BYTES];
    refusal_tag(refusal, seal, tag);
    return cm_crypto_equal(tag, refusal->tag, sizeof tag);
}

size_t cm_connect_write(const cm_connect *connect, const uint8_t enet[CM_ENET_CONNECT],
                        const cm_seal *seal, uint8_t bytes[CM_PATH_LEAST])
{
    CM_ASSERT(connect->token_size <= CM_TOKEN_MAX);
    cm_byte_writer writer = cm_byte_writer_make(bytes, CM_PATH_LEAST - CM_TAG_BYTES);
    cm_put_u8(&writer, CM_WIRE_CONNECT);
    cm_put_u8(&writer, connect->attempt);
    cm_put_u64(&writer, connect->cookie);
    cm_put_bytes(&writer, connect->client_public, CM_KEY_BYTES);
    CM_ASSERT(writer.size == CM_CONNECT_HEADER);
    cm_put_bytes(&writer, connect->token, connect->token_size);
    size_t sealed_at = writer.size;
    cm_put_bytes(&writer, enet, CM_CONNECT_SEALED);
    CM_ASSERT(!writer.overflow);
    uint8_t nonce[CM_NONCE_BYTES];
    cm_seal_connect_nonce(nonce, connect->attempt);
    CM_ASSERT(seal->side == CM_SEAL_CLIENT);
    cm_crypto_seal(bytes + sealed_at, CM_CONNECT_SEALED, bytes, sealed_at, nonce, seal->send_key);
    return writer.size + CM_TAG_BYTES;
}

bool cm_connect_read(const uint8_t *bytes, size_t size, cm_connect *connect)
{
    if (size < CM_CONNECT_LEAST || size > CM_CONNECT_LEAST + CM_TOKEN_MAX ||
        bytes[0] != CM_WIRE_CONNECT) {
        return false;
    }
    cm_byte_reader reader = cm_byte_reader_make(bytes + 1, size - 1);
    connect->attempt = cm_get_u8(&reader);
    connect->cookie = cm_get_u64(&reader);
    connect->client_public = cm_get_bytes(&reader, CM_KEY_BYTES);
    connect->token_size = size - CM_CONNECT_LEAST;
    connect->token = bytes + CM_CONNECT_HEADER;
    return cm_connect_id(connect->cookie) != 0;
}

size_t cm_rooms_ask_write(const cm_connect *ask, uint32_t first, uint8_t bytes[CM_PATH_LEAST])
{
    memset(bytes, 0, CM_PATH_LEAST);
    cm_byte_writer writer = cm_byte_writer_make(bytes, CM_PATH_LEAST);
    cm_put_u8(&writer, CM_WIRE_ROOMS_ASK);
    cm_put_u16(&writer, (uint16_t)first);
    cm_put_u64(&writer, ask->cookie);
    cm_put_bytes(&writer, ask->client_public, CM_KEY_BYTES);
    return CM_PATH_LEAST;
}

bool cm_rooms_ask_read(const uint8_t *bytes, size_t size, cm_connect *ask, uint32_t *first)
{
    if (size != CM_PATH_LEAST || bytes[0] != CM_WIRE_ROOMS_ASK) {
        return false;
    }
    cm_byte_reader reader = cm_byte_reader_make(bytes + 1, size - 1);
    *first = cm_get_u16(&reader);
    *ask = (cm_connect){.cookie = cm_get_u64(&reader)};
    ask->client_public = cm_get_bytes(&reader, CM_KEY_BYTES);
    return true; // the zeros are a later version's
}

bool cm_connect_open(const cm_connect *connect, const uint8_t *bytes, size_t size,
                     const cm_seal *seal, uint8_t enet[CM_ENET_CONNECT])
{
    CM_ASSERT(seal->side == CM_SEAL_SERVER);
    size_t sealed_at = CM_CONNECT_HEADER + connect->token_size;
    CM_ASSERT(size == sealed_at + CM_CONNECT_SEALED + CM_TAG_BYTES);
    uint8_t opened[CM_CONNECT_SEALED + CM_TAG_BYTES];
    memcpy(opened, bytes + sealed_at, sizeof opened);
    uint8_t nonce[CM_NONCE_BYTES];
    cm_seal_connect_nonce(nonce, connect->attempt);
    if (!cm_crypto_open(opened, sizeof opened, bytes, sealed_at, nonce, seal->receive_key)) {
        return false;
    }
    memcpy(enet, opened, CM_CONNECT_SEALED);
    // ENet sends connectID as it lies in memory and data in network byte order; the receiver reads
    // both the same way as the cookie is made here.
    cm_byte_writer writer = cm_byte_writer_make(enet + CM_CONNECT_SEALED, 8);
    cm_put_u64(&writer, connect->cookie);
    return true;
}

// Cookie and random bytes of one period: one hash.
static void make_cookie(const cm_cookie_jar *jar, cm_address from,
                        const uint8_t client_public[CM_KEY_BYTES], uint64_t period,
                        uint64_t *cookie, uint8_t server_random[16])
{
    uint8_t known[8 + CM_ADDRESS_BYTES + 2 + CM_KEY_BYTES];
    cm_byte_writer writer = cm_byte_writer_make(known, sizeof known);
    cm_put_u64(&writer, period);
    size_t skip = cm_address_is_ipv4(from.ip) ? CM_ADDRESS_BYTES - 4 : 0;
    cm_put_bytes(&writer, from.ip + skip, CM_ADDRESS_BYTES - skip);
    cm_put_u16(&writer, from.port);
    cm_put_bytes(&writer, client_public, CM_KEY_BYTES);
    CM_ASSERT(!writer.overflow);
    uint8_t hash[24];
    cm_crypto_hash(hash, sizeof hash, known, writer.size, jar->key);
    cm_byte_reader reader = cm_byte_reader_make(hash, sizeof hash);
    *cookie = cm_get_u64(&reader);
    if (cm_connect_id(*cookie) == 0) {
        *cookie |= 1;
    }
    memcpy(server_random, hash + 8, 16);
}

void cm_cookie_jar_init(cm_cookie_jar *jar, const uint8_t seed[2 * CM_KEY_BYTES])
{
    memcpy(jar->key, seed, CM_KEY_BYTES);
    memcpy(jar->secret, seed + CM_KEY_BYTES, CM_KEY_BYTES);
    cm_crypto_public(jar->secret, jar->public_key);
}

void cm_cookie_challenge(const cm_cookie_jar *jar, cm_address from,
                         const uint8_t client_public[CM_KEY_BYTES], uint64_t now_us,
                         cm_challenge *challenge)
{
    memcpy(challenge->echo, client_public, CM_ECHO_BYTES);
    memcpy(challenge->server_public, jar->public_key, CM_KEY_BYTES);
    make_cookie(jar, from, client_public, now_us / CM_COOKIE_US, &challenge->cookie,
                challenge->server_random);
}

bool cm_cookie_check(const cm_cookie_jar *jar, cm_address from, const cm_connect *connect,
                     uint64_t now_us, uint8_t server_random[16])
{
    uint64_t period = now_us / CM_COOKIE_US;
    for (uint64_t age = 0; age < 2 && age <= period; age++) {
        uint64_t cookie;
        make_cookie(jar, from, connect->client_public, period - age, &cookie, server_random);
        if (cm_crypto_equal(&cookie, &connect->cookie, sizeof cookie)) {
            return true;
        }
    }
    return false;
}
