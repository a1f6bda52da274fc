// SHA-1 (FIPS 180-4) is here because RFC 6455 asks for it, of 60 bytes and not as a secret;
// libsodium has none.
#include "server/transport/websocket/upgrade.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "shared/base/assert.h"
#include "shared/wire/packet.h"

#define GUID        "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define SHA1_BYTES  20u
#define TEXT_OF_(n) #n
#define TEXT_OF(n)  TEXT_OF_(n)
#define PROTOCOL    "carom." TEXT_OF(CM_PROTOCOL_VERSION)

static uint32_t rotate(uint32_t x, uint32_t by)
{
    return x << by | x >> (32 - by);
}

static void sha1_block(uint32_t h[5], const uint8_t block[64])
{
    static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (uint32_t i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (uint32_t i = 16; i < 80; i++) {
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (uint32_t i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t next = rotate(a, 5) + f + e + constants[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

// Of fewer than 120 bytes.
static void sha1(const char *text, size_t size, uint8_t digest[SHA1_BYTES])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t blocks[128] = {0};
    CM_ASSERT(size < 120);
    memcpy(blocks, text, size);
    blocks[size] = 0x80;
    size_t end = size < 56 ? 64 : 128;
    blocks[end - 2] = (uint8_t)(size * 8 >> 8);
    blocks[end - 1] = (uint8_t)(size * 8);
    for (size_t at = 0; at < end; at += 64) {
        sha1_block(h, blocks + at);
    }
    for (uint32_t i = 0; i < SHA1_BYTES; i++) {
        digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Base64 (RFC 4648) of a digest, whose last group has two bytes.
static void encode(const uint8_t digest[SHA1_BYTES], char text[CM_UPGRADE_ACCEPT_MAX])
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < SHA1_BYTES; i += 3) {
        uint32_t group = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
                         (i + 2 < SHA1_BYTES ? digest[i + 2] : 0u);
        for (uint32_t shift = 24; shift > 0; shift -= 6) {
            text[at++] = ALPHABET[group >> (shift - 6) & 63];
        }
    }
    text[at - 1] = '=';
    text[at] = '\0';
}

bool cm_upgrade_accept(const char *key, char accept[CM_UPGRADE_ACCEPT_MAX])
{
    uint8_t digest[SHA1_BYTES];
    char text[CM_UPGRADE_KEY + sizeof GUID];
    bool is_key = strlen(key) == CM_UPGRADE_KEY && strspn(key, ALPHABET) == CM_UPGRADE_KEY - 2 &&
                  strcmp(key + CM_UPGRADE_KEY - 2, "==") == 0;
    if (is_key) {
        memcpy(text, key, CM_UPGRADE_KEY);
        memcpy(text + CM_UPGRADE_KEY, GUID, sizeof GUID);
        sha1(text, sizeof text - 1, digest);
        encode(digest, accept);
    }
    return is_key;
}

// The next entry of a list with commas, without blanks round it; NULL: there is none.
static const char *next_entry(const char **list, size_t *length)
{
    const char *at = *list + strspn(*list, ", \t");
    *length = strcspn(at, ",");
    *list = at + *length;
    while (*length > 0 && (at[*length - 1] == ' ' || at[*length - 1] == '\t')) {
        --*length;
    }
    return *length > 0 ? at : NULL;
}

bool cm_upgrade_offers(const char *protocols)
{
    const char *entry;
    size_t length;
    while ((entry = next_entry(&protocols, &length)) != NULL) {
        if (length == sizeof PROTOCOL - 1 && memcmp(entry, PROTOCOL, length) == 0) {
            return true;
        }
    }
    return false;
}

bool cm_upgrade_is_allowed(const char *origin, const char *host, const char *allowed)
{
    const char *name = strstr(origin, "://"), *entry;
    size_t length, size = strlen(origin);
    if (size == 0 || (name != NULL && strcasecmp(name + 3, host) == 0)) {
        return true;
    }
    while ((entry = next_entry(&allowed, &length)) != NULL) {
        if (length == size && strncasecmp(entry, origin, size) == 0) {
            return true;
        }
    }
    return false;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

bool cm_upgrade_room(const char *path, char *name, size_t name_size)
{
    static const char PLAY[] = "/play/";
    const char *at = NULL;
    for (const char *found = path; (found = strstr(found, PLAY)) != NULL; found++) {
        at = found + sizeof PLAY - 1;
    }
    size_t size = 0;
    while (at != NULL && *at != '\0' && size + 1 < name_size) {
        int high = 0, low = 0;
        if (*at == '%' && ((high = digit(at[1])) < 0 || (low = digit(at[2])) < 0)) {
            return false;
        }
        int c = *at == '%' ? high * 16 + low : *at;
        if (c <= ' ' || c > '~') {
            return false;
        }
        at += *at == '%' ? 3 : 1;
        name[size++] = (char)c;
    }
    name[size] = '\0';
    return at != NULL && *at == '\0';
}

size_t cm_upgrade_answer(const char *accept, char answer[CM_UPGRADE_ANSWER_MAX])
{
    return (size_t)snprintf(answer, CM_UPGRADE_ANSWER_MAX,
                            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                            "Connection: Upgrade\r\nSec-WebSocket-Accept: %.28s\r\n"
                            "Sec-WebSocket-Protocol: " PROTOCOL "\r\n\r\n",
                            accept);
}
