// Goal: datagrams are sealed as RFC 8439 says, at every size, though not by the library's own call
// for it. Method: the example of RFC 8439, 2.8.2; a hash over what the library's call made of 1,201
// texts (recorded once, with libsodium 1.0.18); every size opened again and refused when changed.
#include "shared/wire/crypto.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 1200u

static void to_hex(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++) {
        sprintf(text + 2 * i, "%02x", bytes[i]);
    }
}

Test(crypto, seals_as_rfc_8439_says)
{
    static const char text[] = "Ladies and Gentlemen of the class of '99: If I could offer you "
                               "only one tip for the future, sunscreen would be it.";
    static const uint8_t nonce[CM_NONCE_BYTES] = {7,   0,   0,   0,   '@', 'A',
                                                  'B', 'C', 'D', 'E', 'F', 'G'};
    static const uint8_t extra[12] = {0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1,
                                      0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};
    uint8_t key[CM_KEY_BYTES], bytes[sizeof text - 1 + CM_TAG_BYTES];
    char hex[2 * CM_TAG_BYTES + 1];
    cr_assert(cm_crypto_init());
    for (size_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)(0x80 + i);
    }
    size_t size = sizeof text - 1;
    memcpy(bytes, text, size);
    cm_crypto_seal(bytes, size, extra, sizeof extra, nonce, key);
    to_hex(bytes, CM_TAG_BYTES, hex);
    cr_assert_str_eq(hex, "d31a8d34648e60db7b86afbc53ef7ec2");
    to_hex(bytes + size, CM_TAG_BYTES, hex);
    cr_assert_str_eq(hex, "1ae10b594f09e26a7e902ecbd0600691");
}

Test(crypto, every_size_is_sealed_alike_and_opens)
{
    uint8_t key[CM_KEY_BYTES], hash[CM_KEY_BYTES] = {0}, extra[16];
    uint8_t nonce[CM_NONCE_BYTES] = {0}, text[TEXT_MAX], bytes[TEXT_MAX + CM_TAG_BYTES];
    cr_assert(cm_crypto_init());
    for (uint8_t i = 0; i < CM_KEY_BYTES; i++) {
        key[i] = i;
        extra[i % 16] = (uint8_t)(200 + i % 16);
    }
    for (uint32_t size = 0; size <= TEXT_MAX; size++) {
        nonce[0] = (uint8_t)size;
        nonce[1] = (uint8_t)(size >> 8);
        for (uint32_t i = 0; i < size; i++) {
            text[i] = (uint8_t)(i * 7 + size);
        }
        memcpy(bytes, text, size);
        cm_crypto_seal(bytes, size, extra, size % 17, nonce, key);
        cm_crypto_hash(hash, sizeof hash, bytes, size + CM_TAG_BYTES, hash);
        uint8_t changed[sizeof bytes];
        memcpy(changed, bytes, size + CM_TAG_BYTES);
        changed[(size * 31) % (size + CM_TAG_BYTES)] ^= (uint8_t)(1u << size % 8);
        cr_assert_not(cm_crypto_open(changed, size + CM_TAG_BYTES, extra, size % 17, nonce, key));
        cr_assert(cm_crypto_open(bytes, size + CM_TAG_BYTES, extra, size % 17, nonce, key));
        cr_assert_arr_eq(bytes, text, size);
    }
    char hex[2 * CM_KEY_BYTES + 1];
    to_hex(hash, sizeof hash, hex);
    cr_assert_str_eq(hex, "81b4bb89505251d2e1809592a980117cffeb16ce2c3d2c7a71edcb17c7ce0f05");
}

// One text for each sequence of bytes: libsodium alone takes 128 other bytes for the last letter.
Test(crypto, base64_has_one_form)
{
    uint8_t bytes[3];
    char again[5];
    uint32_t taken = 0;
    for (int letter = 1; letter < 256; letter++) {
        char text[5] = {'A', 'A', 'A', (char)letter, '\0'};
        if (cm_crypto_unbase64(text, 4, bytes, sizeof bytes) == 3) {
            cr_assert(cm_crypto_base64(bytes, 3, again, sizeof again));
            cr_assert_str_eq(again, text);
            taken++;
        }
    }
    cr_assert_eq(taken, 64);
}
