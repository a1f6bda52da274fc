// libsodium, and nothing else of ours around it.
#include "shared/wire/crypto.h"

#include <sodium.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

_Static_assert(CM_KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "the library's");
_Static_assert(CM_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "the library's");
_Static_assert(CM_KEY_BYTES == crypto_scalarmult_curve25519_BYTES, "the library's");
_Static_assert(CM_TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES, "the library's");
_Static_assert(CM_NONCE_BYTES == crypto_aead_chacha20poly1305_ietf_NPUBBYTES, "the library's");
_Static_assert(CM_KEY_BYTES == crypto_sign_ed25519_SEEDBYTES, "the library's");
_Static_assert(CM_KEY_BYTES == crypto_sign_ed25519_PUBLICKEYBYTES, "the library's");
_Static_assert(CM_SIGNATURE_BYTES == crypto_sign_ed25519_BYTES, "the library's");
_Static_assert(CM_TOKEN_NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
               "the library's");

bool cm_crypto_init(void)
{
    return sodium_init() >= 0; // 1: it was started before, by us or by a game
}

void cm_crypto_random(void *bytes, size_t size)
{
    randombytes_buf(bytes, size);
}

void cm_crypto_wipe(void *bytes, size_t size)
{
    sodium_memzero(bytes, size);
}

bool cm_crypto_equal(const void *a, const void *b, size_t size)
{
    return sodium_memcmp(a, b, size) == 0;
}

void cm_crypto_hex(const void *bytes, size_t size, char *text)
{
    sodium_bin2hex(text, 2 * size + 1, bytes, size);
}

bool cm_crypto_unhex(const char *text, size_t length, void *bytes, size_t size)
{
    size_t got = 0;
    return sodium_hex2bin(bytes, size, text, length, NULL, &got, NULL) == 0 && got == size;
}

bool cm_crypto_base64(const void *bytes, size_t size, char *text, size_t capacity)
{
    const int form = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    bool fits = sodium_base64_ENCODED_LEN(size, form) <= capacity;
    return fits && sodium_bin2base64(text, capacity, bytes, size, form) != NULL;
}

size_t cm_crypto_unbase64(const char *text, size_t length, void *bytes, size_t capacity)
{
    size_t size = 0;
    bool good = sodium_base642bin(bytes, capacity, text, length, NULL, &size, NULL,
                                  sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0;
    for (size_t i = 0; i < length; i++) {
        good = good && (uint8_t)text[i] < 0x80; // libsodium takes each byte from 0x80 on for '_'
    }
    return good ? size : 0;
}

void cm_crypto_hash(uint8_t *out, size_t out_size, const uint8_t *bytes, size_t size,
                    const uint8_t *key)
{
    CM_ASSERT(out_size >= crypto_generichash_blake2b_BYTES_MIN);
    CM_ASSERT(out_size <= crypto_generichash_blake2b_BYTES_MAX);
    crypto_generichash_blake2b(out, out_size, bytes, size, key, key != NULL ? CM_KEY_BYTES : 0);
}

_Static_assert(sizeof(cm_crypto_stream) >= sizeof(crypto_generichash_blake2b_state),
               "the library's state fits");

void cm_crypto_stream_begin(cm_crypto_stream *stream, size_t out_size)
{
    crypto_generichash_blake2b_init((void *)stream, NULL, 0, out_size);
}

void cm_crypto_stream_add(cm_crypto_stream *stream, const uint8_t *bytes, size_t size)
{
    crypto_generichash_blake2b_update((void *)stream, bytes, size);
}

void cm_crypto_stream_end(cm_crypto_stream *stream, uint8_t *out, size_t out_size)
{
    crypto_generichash_blake2b_final((void *)stream, out, out_size);
}

void cm_crypto_public(const uint8_t secret[CM_KEY_BYTES], uint8_t public_key[CM_KEY_BYTES])
{
    crypto_scalarmult_curve25519_base(public_key, secret);
}

bool cm_crypto_shared(const uint8_t secret[CM_KEY_BYTES], const uint8_t public_key[CM_KEY_BYTES],
                      uint8_t shared[CM_KEY_BYTES])
{
    return crypto_scalarmult_curve25519(shared, secret, public_key) == 0;
}

// Datagrams, in one pass of the cipher. The library's own call makes the authenticator's key from a
// block of its own and then ends block by block, at three times the cost of its vectorised part,
// which takes STREAM bytes at once: so the key's block, the text and what is missing to a multiple
// of STREAM go through it together. The bytes are the same (RFC 8439, 2.8).
//
//   OFFSET    SIZE  one_pass, once the cipher ran
//   0         32    the authenticator's key
//   48        16    extra, padded with zeros: what is authenticated begins here
//   64        n     ciphertext, padded with zeros to 16
//   64 + n    16    both sizes: it ends here
#define BLOCK         64u
#define EXTRA_MAX     16u
#define TEXT_MAX      1200u
#define PADDED(n, to) (((n) + (to)-1) / (to) * (to))
#if defined(__x86_64__) || defined(__i386__)
#define STREAM 256u
#else
#define STREAM BLOCK // no vectors in the library
#endif

typedef struct one_pass {
    uint8_t bytes[PADDED(BLOCK + TEXT_MAX, 256u) + 32u];
} one_pass;

static size_t load(one_pass *pass, const uint8_t *text, size_t size)
{
    size_t padded = PADDED(BLOCK + size, STREAM);
    memset(pass->bytes, 0, BLOCK);
    memcpy(pass->bytes + BLOCK, text, size);
    memset(pass->bytes + BLOCK + size, 0, padded - BLOCK - size);
    return padded;
}

// `pass` has the ciphertext; the key is apart, since on opening it is not in the same place.
static void authenticate(one_pass *pass, size_t size, const uint8_t *extra, size_t extra_size,
                         const uint8_t key[CM_KEY_BYTES], uint8_t tag[CM_TAG_BYTES])
{
    size_t room = PADDED(extra_size, 16u);
    uint8_t *at = pass->bytes + BLOCK - room, *end = pass->bytes + BLOCK + PADDED(size, 16u);
    memset(at, 0, room);
    if (extra_size > 0) {
        memcpy(at, extra, extra_size);
    }
    memset(pass->bytes + BLOCK + size, 0, (size_t)(end - pass->bytes) - BLOCK - size);
    cm_byte_writer writer = cm_byte_writer_make(end, 16);
    cm_put_u64(&writer, extra_size);
    cm_put_u64(&writer, size);
    crypto_onetimeauth_poly1305(tag, at, (size_t)(end + 16 - at), key);
}

static void seal_datagram(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                          const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES])
{
    one_pass pass;
    size_t padded = load(&pass, bytes, size);
    crypto_stream_chacha20_ietf_xor_ic(pass.bytes, pass.bytes, padded, nonce, 0, key);
    memcpy(bytes, pass.bytes + BLOCK, size);
    authenticate(&pass, size, extra, extra_size, pass.bytes, bytes + size);
    sodium_memzero(pass.bytes, CM_KEY_BYTES);
}

static bool open_datagram(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                          const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES])
{
    one_pass pass, plain;
    uint8_t tag[CM_TAG_BYTES];
    size_t padded = load(&pass, bytes, size);
    crypto_stream_chacha20_ietf_xor_ic(plain.bytes, pass.bytes, padded, nonce, 0, key);
    authenticate(&pass, size, extra, extra_size, plain.bytes, tag);
    bool good = crypto_verify_16(tag, bytes + size) == 0;
    if (good) {
        memcpy(bytes, plain.bytes + BLOCK, size);
    }
    sodium_memzero(plain.bytes, good ? CM_KEY_BYTES : padded);
    return good;
}

void cm_crypto_seal(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                    const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES])
{
    if (size <= TEXT_MAX && extra_size <= EXTRA_MAX) {
        seal_datagram(bytes, size, extra, extra_size, nonce, key);
    } else {
        crypto_aead_chacha20poly1305_ietf_encrypt(bytes, NULL, bytes, size, extra, extra_size, NULL,
                                                  nonce, key);
    }
}

bool cm_crypto_open(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                    const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES])
{
    if (size < CM_TAG_BYTES) {
        return false;
    }
    if (size - CM_TAG_BYTES <= TEXT_MAX && extra_size <= EXTRA_MAX) {
        return open_datagram(bytes, size - CM_TAG_BYTES, extra, extra_size, nonce, key);
    }
    return crypto_aead_chacha20poly1305_ietf_decrypt(bytes, NULL, NULL, bytes, size, extra,
                                                     extra_size, nonce, key) == 0;
}

void cm_crypto_token_seal(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                          const uint8_t nonce[CM_TOKEN_NONCE_BYTES],
                          const uint8_t key[CM_KEY_BYTES])
{
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes, NULL, bytes, size, extra, extra_size, NULL,
                                               nonce, key);
}

bool cm_crypto_token_open(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                          const uint8_t nonce[CM_TOKEN_NONCE_BYTES],
                          const uint8_t key[CM_KEY_BYTES])
{
    return size >= CM_TAG_BYTES &&
           crypto_aead_xchacha20poly1305_ietf_decrypt(bytes, NULL, NULL, bytes, size, extra,
                                                      extra_size, nonce, key) == 0;
}

void cm_crypto_sign_public(const uint8_t secret[CM_KEY_BYTES], uint8_t public_key[CM_KEY_BYTES])
{
    uint8_t pair[crypto_sign_ed25519_SECRETKEYBYTES];
    crypto_sign_ed25519_seed_keypair(public_key, pair, secret);
    sodium_memzero(pair, sizeof pair);
}

void cm_crypto_sign(uint8_t signature[CM_SIGNATURE_BYTES], const uint8_t *bytes, size_t size,
                    const uint8_t secret[CM_KEY_BYTES])
{
    uint8_t pair[crypto_sign_ed25519_SECRETKEYBYTES], public_key[CM_KEY_BYTES];
    crypto_sign_ed25519_seed_keypair(public_key, pair, secret);
    crypto_sign_ed25519_detached(signature, NULL, bytes, size, pair);
    sodium_memzero(pair, sizeof pair);
}

bool cm_crypto_sign_verify(const uint8_t signature[CM_SIGNATURE_BYTES], const uint8_t *bytes,
                           size_t size, const uint8_t public_key[CM_KEY_BYTES])
{
    return crypto_sign_ed25519_verify_detached(signature, bytes, size, public_key) == 0;
}
