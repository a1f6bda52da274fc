// libsodium, and nothing else of ours around it.
#include "shared/wire/crypto.h"

#include <sodium.h>

#include "shared/base/assert.h"

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

void cm_crypto_hash(uint8_t *out, size_t out_size, const uint8_t *bytes, size_t size,
                    const uint8_t *key)
{
    CM_ASSERT(out_size >= crypto_generichash_blake2b_BYTES_MIN);
    CM_ASSERT(out_size <= crypto_generichash_blake2b_BYTES_MAX);
    crypto_generichash_blake2b(out, out_size, bytes, size, key, key != NULL ? CM_KEY_BYTES : 0);
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

void cm_crypto_seal(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                    const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES])
{
    crypto_aead_chacha20poly1305_ietf_encrypt(bytes, NULL, bytes, size, extra, extra_size, NULL,
                                              nonce, key);
}

bool cm_crypto_open(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                    const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES])
{
    return size >= CM_TAG_BYTES &&
           crypto_aead_chacha20poly1305_ietf_decrypt(bytes, NULL, NULL, bytes, size, extra,
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
