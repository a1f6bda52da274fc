// Keys, sequences and the window. Pure: the same arguments give the same bytes.
#include "shared/wire/seal.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

// The first four bytes of a nonce.
enum { NONCE_FROM_CLIENT = CM_SEAL_CLIENT, NONCE_FROM_SERVER = CM_SEAL_SERVER, NONCE_CONNECT };

static void make_nonce(uint8_t nonce[CM_NONCE_BYTES], uint32_t kind, uint64_t sequence)
{
    cm_byte_writer writer = cm_byte_writer_make(nonce, CM_NONCE_BYTES);
    cm_put_u32(&writer, kind);
    cm_put_u64(&writer, sequence);
}

void cm_seal_connect_nonce(uint8_t nonce[CM_NONCE_BYTES], uint8_t attempt)
{
    make_nonce(nonce, NONCE_CONNECT, attempt);
}

void cm_seal_begin(cm_seal *seal, cm_seal_side side, uint32_t id, const cm_seal_secrets *secrets)
{
    static const char label[] = "carom keys";
    uint8_t known[sizeof label + 3 * CM_KEY_BYTES + sizeof secrets->server_random];
    cm_byte_writer writer = cm_byte_writer_make(known, sizeof known);
    cm_put_bytes(&writer, label, sizeof label);
    cm_put_bytes(&writer, secrets->shared, CM_KEY_BYTES);
    cm_put_bytes(&writer, secrets->client_public, CM_KEY_BYTES);
    cm_put_bytes(&writer, secrets->server_public, CM_KEY_BYTES);
    cm_put_bytes(&writer, secrets->server_random, sizeof secrets->server_random);
    CM_ASSERT(writer.size == sizeof known && !writer.overflow);
    uint8_t keys[2][CM_KEY_BYTES]; // of what the client sends, of what the server sends
    cm_crypto_hash(keys[0], sizeof keys, known, sizeof known, secrets->token_key);
    memset(seal, 0, sizeof *seal);
    seal->id = id;
    seal->side = side;
    memcpy(seal->send_key, keys[side == CM_SEAL_SERVER], CM_KEY_BYTES);
    memcpy(seal->receive_key, keys[side == CM_SEAL_CLIENT], CM_KEY_BYTES);
    cm_crypto_wipe(keys, sizeof keys);
    cm_crypto_wipe(known, sizeof known);
}

size_t cm_seal_close(cm_seal *seal, uint8_t type, uint8_t *datagram, size_t size)
{
    CM_ASSERT(seal->id != 0);
    cm_byte_writer writer = cm_byte_writer_make(datagram, CM_SEAL_HEADER);
    cm_put_u8(&writer, type);
    cm_put_u32(&writer, seal->id);
    cm_put_u64(&writer, seal->sent);
    uint8_t nonce[CM_NONCE_BYTES];
    make_nonce(nonce, seal->side, seal->sent);
    seal->sent++; // 2^64 of them are never reached
    cm_crypto_seal(datagram + CM_SEAL_HEADER, size, datagram, CM_SEAL_HEADER, nonce,
                   seal->send_key);
    return size + CM_SEAL_OVERHEAD;
}

uint32_t cm_seal_id(const uint8_t *datagram, size_t size)
{
    cm_byte_reader reader = cm_byte_reader_make(datagram, size);
    cm_get_u8(&reader);
    return cm_get_u32(&reader);
}

static uint64_t *came_word(cm_seal_window *window, uint64_t sequence)
{
    return &window->came[sequence % CM_SEAL_WINDOW / 64];
}

static bool is_replay(cm_seal_window *window, uint64_t sequence)
{
    if (sequence >= window->next) {
        return false;
    }
    bool old = window->next - sequence > CM_SEAL_WINDOW;
    return old || (*came_word(window, sequence) >> sequence % 64 & 1) != 0;
}

static void note_came(cm_seal_window *window, uint64_t sequence)
{
    if (sequence >= window->next) {
        uint64_t passed = sequence - window->next + 1;
        if (passed >= CM_SEAL_WINDOW) {
            memset(window->came, 0, sizeof window->came);
        } else {
            for (uint64_t i = window->next; i <= sequence; i++) {
                *came_word(window, i) &= ~(UINT64_C(1) << i % 64);
            }
        }
        window->next = sequence + 1;
    }
    *came_word(window, sequence) |= UINT64_C(1) << sequence % 64;
}

cm_seal_reason cm_seal_open(cm_seal *seal, uint8_t *datagram, size_t size, size_t *plain_size)
{
    *plain_size = 0;
    if (size < CM_SEAL_OVERHEAD) {
        return CM_SEAL_SHORT;
    }
    cm_byte_reader reader = cm_byte_reader_make(datagram, CM_SEAL_HEADER);
    cm_get_u8(&reader);
    if (cm_get_u32(&reader) != seal->id) {
        return CM_SEAL_OTHER;
    }
    uint64_t sequence = cm_get_u64(&reader);
    // The last sequence has no successor at which the window could begin; an honest sender never
    // reaches it.
    if (sequence == UINT64_MAX || is_replay(&seal->window, sequence)) {
        return CM_SEAL_REPLAY;
    }
    uint8_t nonce[CM_NONCE_BYTES];
    make_nonce(nonce, seal->side == CM_SEAL_SERVER ? NONCE_FROM_CLIENT : NONCE_FROM_SERVER,
               sequence);
    if (!cm_crypto_open(datagram + CM_SEAL_HEADER, size - CM_SEAL_HEADER, datagram, CM_SEAL_HEADER,
                        nonce, seal->receive_key)) {
        return CM_SEAL_FORGED;
    }
    note_came(&seal->window, sequence);
    *plain_size = size - CM_SEAL_OVERHEAD;
    return CM_SEAL_OK;
}
