// The cryptography that the wire needs, each thing once: libsodium behind bytes. crypto.c is the
// only file of ours that knows the library.
//
// Keys, nonces and randomness are arguments, so that tests run from seeds. Costs on a machine of
// 2020: seal or open 0.3 to 1.0 us a datagram, a hash 0.3 us, X25519 40 us.
#ifndef CM_WIRE_CRYPTO_H
#define CM_WIRE_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_KEY_BYTES         32u
#define CM_TAG_BYTES         16u
#define CM_NONCE_BYTES       12u
#define CM_TOKEN_NONCE_BYTES 24u
#define CM_SIGNATURE_BYTES   64u

// Once before anything else here; again is allowed. False: the library does not work here.
bool cm_crypto_init(void);
void cm_crypto_random(void *bytes, size_t size);
// Overwrites in a way that no compiler leaves out.
void cm_crypto_wipe(void *bytes, size_t size);
// In a time that does not depend on the contents.
bool cm_crypto_equal(const void *a, const void *b, size_t size);

// Hexadecimal digits, lower case, with a NUL. Back, from digits of either case: false for anything
// but `size` bytes.
void cm_crypto_hex(const void *bytes, size_t size, char *text);
bool cm_crypto_unhex(const char *text, size_t length, void *bytes, size_t size);
// base64url (RFC 4648) without padding: false where it does not fit with its NUL. Back: how many
// bytes, 0 where they are more than `capacity`, or for any other text than the one form.
bool cm_crypto_base64(const void *bytes, size_t size, char *text, size_t capacity);
size_t cm_crypto_unbase64(const char *text, size_t length, void *bytes, size_t capacity);

// BLAKE2b of 16 to 64 bytes; key of CM_KEY_BYTES or NULL.
void cm_crypto_hash(uint8_t *out, size_t out_size, const uint8_t *bytes, size_t size,
                    const uint8_t *key);

// The same without a key, of bytes that come in parts.
typedef struct cm_crypto_stream {
    _Alignas(64) uint8_t state[384];
} cm_crypto_stream;
void cm_crypto_stream_begin(cm_crypto_stream *stream, size_t out_size);
void cm_crypto_stream_add(cm_crypto_stream *stream, const uint8_t *bytes, size_t size);
void cm_crypto_stream_end(cm_crypto_stream *stream, uint8_t *out, size_t out_size);

// X25519. The public half of a secret of any 32 bytes.
void cm_crypto_public(const uint8_t secret[CM_KEY_BYTES], uint8_t public_key[CM_KEY_BYTES]);
// The shared secret, which both ends compute; false for a public key of low order.
bool cm_crypto_shared(const uint8_t secret[CM_KEY_BYTES], const uint8_t public_key[CM_KEY_BYTES],
                      uint8_t shared[CM_KEY_BYTES]);

// ChaCha20-Poly1305 (RFC 8439) in place: `bytes` holds `size` of plaintext and has room for a tag
// behind it. A nonce must never come twice with one key. `extra` is authenticated, not encrypted.
void cm_crypto_seal(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                    const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES]);
// `size` with the tag. False, and the bytes are lost, where anything was changed.
bool cm_crypto_open(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                    const uint8_t nonce[CM_NONCE_BYTES], const uint8_t key[CM_KEY_BYTES]);

// The same as XChaCha20-Poly1305, whose nonce is long enough to be drawn by chance.
void cm_crypto_token_seal(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                          const uint8_t nonce[CM_TOKEN_NONCE_BYTES],
                          const uint8_t key[CM_KEY_BYTES]);
bool cm_crypto_token_open(uint8_t *bytes, size_t size, const uint8_t *extra, size_t extra_size,
                          const uint8_t nonce[CM_TOKEN_NONCE_BYTES],
                          const uint8_t key[CM_KEY_BYTES]);

// Ed25519. A secret is any CM_KEY_BYTES drawn by chance; its public half is what others verify by.
void cm_crypto_sign_public(const uint8_t secret[CM_KEY_BYTES], uint8_t public_key[CM_KEY_BYTES]);
void cm_crypto_sign(uint8_t signature[CM_SIGNATURE_BYTES], const uint8_t *bytes, size_t size,
                    const uint8_t secret[CM_KEY_BYTES]);
bool cm_crypto_sign_verify(const uint8_t signature[CM_SIGNATURE_BYTES], const uint8_t *bytes,
                           size_t size, const uint8_t public_key[CM_KEY_BYTES]);

#endif
