// Tokens: bytes in and out. Every field of a token that comes from outside is checked here, once,
// though only who has the key can have made it: a backend errs too.
#include "shared/wire/token.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"
#include "shared/wire/control_text.h"

// The first byte of a connect token whose addresses have 16 bytes.
#define KIND_OF_FORMAT_2 3u
#define BOUND            1u // flags
#define SPECTATES        2u

// `size`: 4 for IPv4 alone, or 16.
static void put_ip(cm_byte_writer *writer, const uint8_t ip[CM_ADDRESS_BYTES], size_t size)
{
    cm_put_bytes(writer, ip + CM_ADDRESS_BYTES - size, size);
}

static bool get_ip(cm_byte_reader *reader, uint8_t ip[CM_ADDRESS_BYTES], size_t size)
{
    const uint8_t *bytes = cm_get_bytes(reader, size);
    memset(ip, 0, CM_ADDRESS_BYTES);
    if (bytes != NULL) {
        memset(ip + 10, 0xff, 2); // of IPv4; of 16 bytes nothing is left of it
        memcpy(ip + CM_ADDRESS_BYTES - size, bytes, size);
    }
    return bytes != NULL;
}

static void put_addresses(cm_byte_writer *writer, const cm_address *addresses, uint32_t count,
                          size_t ip_size)
{
    cm_put_u8(writer, (uint8_t)count);
    for (uint32_t i = 0; i < count; i++) {
        put_ip(writer, addresses[i].ip, ip_size);
        cm_put_u16(writer, addresses[i].port);
    }
}

static bool get_addresses(cm_byte_reader *reader, cm_address *addresses, uint32_t *count,
                          size_t ip_size)
{
    *count = cm_get_u8(reader);
    if (*count > CAROM_TOKEN_SERVERS_MAX) {
        *count = 0;
        return false;
    }
    for (uint32_t i = 0; i < *count; i++) {
        bool whole = get_ip(reader, addresses[i].ip, ip_size);
        addresses[i].port = cm_get_u16(reader);
        if (!whole || addresses[i].port == 0) {
            return false;
        }
    }
    return !reader->overflow;
}

static void put_text(cm_byte_writer *writer, const char *text)
{
    size_t size = strlen(text);
    cm_put_u8(writer, (uint8_t)size);
    cm_put_bytes(writer, text, size);
}

// Into text[max + 1]; false where it is too long or not printable.
static bool get_text(cm_byte_reader *reader, char *text, size_t max)
{
    size_t size = cm_get_u8(reader);
    const uint8_t *bytes = size <= max ? cm_get_bytes(reader, size) : NULL;
    if (bytes == NULL || memchr(bytes, 0, size) != NULL) {
        return false;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    return cm_text_is_printable(text, max);
}

static bool is_sound(const cm_token *token)
{
    const carom_token *body = &token->body;
    bool sizes = body->server_count <= CAROM_TOKEN_SERVERS_MAX &&
                 body->user_data_size <= CAROM_TOKEN_DATA_MAX && body->key_id != 0;
    bool texts = memchr(body->room, 0, sizeof body->room) != NULL &&
                 memchr(body->name, 0, sizeof body->name) != NULL;
    return sizes && texts && body->client_id != 0;
}

// Bytes of an address in a token: as few as all that it names can be written with.
static size_t ip_size_of(const cm_address *servers, uint32_t count, const uint8_t *bound)
{
    bool four = bound == NULL || cm_address_is_ipv4(bound);
    for (uint32_t i = 0; i < count; i++) {
        four = four && cm_address_is_ipv4(servers[i].ip);
    }
    return four ? 4 : CM_ADDRESS_BYTES;
}

size_t cm_token_seal(const cm_token *token, const carom_token_key *key, uint8_t bytes[CM_TOKEN_MAX])
{
    const carom_token *body = &token->body;
    if (!is_sound(token)) {
        return 0;
    }
    size_t ip_size =
        ip_size_of(body->servers, body->server_count, body->is_bound ? body->bound_ip : NULL);
    cm_byte_writer writer = cm_byte_writer_make(bytes, CM_TOKEN_MAX - CM_TAG_BYTES);
    cm_put_u8(&writer, ip_size == 4 ? (uint8_t)token->kind : KIND_OF_FORMAT_2);
    cm_put_u32(&writer, key->id);
    cm_put_u64(&writer, body->expires_unix_s);
    cm_put_bytes(&writer, token->id, sizeof token->id);
    CM_ASSERT(writer.size == CM_TOKEN_HEADER);
    cm_put_u64(&writer, body->client_id);
    cm_put_bytes(&writer, token->key, CM_KEY_BYTES);
    put_addresses(&writer, body->servers, body->server_count, ip_size);
    cm_put_u8(&writer,
              (uint8_t)((body->is_bound ? BOUND : 0u) | (body->spectates ? SPECTATES : 0u)));
    put_ip(&writer, body->bound_ip, body->is_bound ? ip_size : 0);
    put_text(&writer, body->room);
    put_text(&writer, body->name);
    cm_put_u16(&writer, (uint16_t)body->user_data_size);
    cm_put_bytes(&writer, body->user_data, body->user_data_size);
    if (token->kind == CM_TOKEN_RESUME) {
        cm_put_u64(&writer, token->match_id);
        cm_put_u8(&writer, (uint8_t)token->player);
    }
    if (writer.overflow) {
        return 0;
    }
    cm_crypto_token_seal(bytes + CM_TOKEN_HEADER, writer.size - CM_TOKEN_HEADER, bytes,
                         CM_TOKEN_HEADER, token->id, key->secret);
    return writer.size + CM_TAG_BYTES;
}

// The header, which anyone can read.
static bool read_header(const uint8_t *bytes, size_t size, cm_token *token, size_t *ip_size)
{
    cm_byte_reader reader = cm_byte_reader_make(bytes, size);
    memset(token, 0, sizeof *token);
    token->kind = (cm_token_kind)cm_get_u8(&reader);
    token->body.key_id = cm_get_u32(&reader);
    token->body.expires_unix_s = cm_get_u64(&reader);
    const uint8_t *id = cm_get_bytes(&reader, sizeof token->id);
    if (id == NULL || size < CM_TOKEN_HEADER + CM_TAG_BYTES || size > CM_TOKEN_MAX) {
        return false;
    }
    memcpy(token->id, id, sizeof token->id);
    *ip_size = bytes[0] == KIND_OF_FORMAT_2 ? CM_ADDRESS_BYTES : 4;
    if (bytes[0] == KIND_OF_FORMAT_2) {
        token->kind = CM_TOKEN_CONNECT;
    }
    return token->kind == CM_TOKEN_CONNECT || token->kind == CM_TOKEN_RESUME;
}

static bool read_plain(cm_byte_reader *reader, cm_token *token, size_t ip_size)
{
    carom_token *body = &token->body;
    body->client_id = cm_get_u64(reader);
    const uint8_t *key = cm_get_bytes(reader, CM_KEY_BYTES);
    if (key == NULL || !get_addresses(reader, body->servers, &body->server_count, ip_size)) {
        return false;
    }
    memcpy(token->key, key, CM_KEY_BYTES);
    uint8_t flags = cm_get_u8(reader);
    body->is_bound = (flags & BOUND) != 0;
    body->spectates = (flags & SPECTATES) != 0;
    if (flags > (BOUND | SPECTATES) ||
        (body->is_bound && !get_ip(reader, body->bound_ip, ip_size))) {
        return false;
    }
    if (!get_text(reader, body->room, CAROM_TOKEN_ROOM_MAX) ||
        !get_text(reader, body->name, CAROM_TOKEN_NAME_MAX)) {
        return false;
    }
    body->user_data_size = cm_get_u16(reader);
    const uint8_t *data = body->user_data_size <= CAROM_TOKEN_DATA_MAX
                              ? cm_get_bytes(reader, body->user_data_size)
                              : NULL;
    if (data == NULL) {
        return false;
    }
    memcpy(body->user_data, data, body->user_data_size);
    if (token->kind == CM_TOKEN_RESUME) {
        token->match_id = cm_get_u64(reader);
        token->player = cm_get_u8(reader);
    }
    body->opened = true;
    return !reader->overflow && cm_bytes_left(reader) == 0 && body->client_id != 0;
}

carom_result cm_token_open(const uint8_t *bytes, size_t size, const carom_token_key *keys,
                           uint32_t key_count, cm_token *token)
{
    size_t ip_size;
    if (!read_header(bytes, size, token, &ip_size)) {
        return CAROM_ERROR_MAGIC;
    }
    const carom_token_key *key = NULL;
    for (uint32_t i = 0; i < key_count && key == NULL; i++) {
        key = keys[i].id == token->body.key_id ? &keys[i] : NULL;
    }
    if (key == NULL) {
        return CAROM_ERROR_NOT_FOUND;
    }
    uint8_t plain[CM_TOKEN_MAX];
    size_t sealed = size - CM_TOKEN_HEADER;
    memcpy(plain, bytes + CM_TOKEN_HEADER, sealed);
    carom_result result = CAROM_ERROR_CORRUPT;
    if (cm_crypto_token_open(plain, sealed, bytes, CM_TOKEN_HEADER, token->id, key->secret)) {
        cm_byte_reader reader = cm_byte_reader_make(plain, sealed - CM_TAG_BYTES);
        result = read_plain(&reader, token, ip_size) ? CAROM_OK : CAROM_ERROR_CORRUPT;
    }
    cm_crypto_wipe(plain, sizeof plain);
    return result;
}

// The text ---------------------------------------------------------------------------------------

#define PASS_BYTES_MAX (2u + CM_TOKEN_MAX + CM_KEY_BYTES + 1u + 18u * CAROM_TOKEN_SERVERS_MAX)
_Static_assert((PASS_BYTES_MAX + 2) / 3 * 4 + 1 <= CAROM_TOKEN_TEXT_MAX, "the text fits");

bool cm_token_pass_write(const cm_token_pass *pass, char *text, size_t size)
{
    uint8_t bytes[PASS_BYTES_MAX];
    cm_byte_writer writer = cm_byte_writer_make(bytes, sizeof bytes);
    cm_put_u16(&writer, (uint16_t)pass->sealed_size);
    cm_put_bytes(&writer, pass->sealed, pass->sealed_size);
    cm_put_bytes(&writer, pass->key, CM_KEY_BYTES);
    put_addresses(&writer, pass->servers, pass->server_count,
                  pass->sealed[0] == KIND_OF_FORMAT_2 ? CM_ADDRESS_BYTES : 4);
    bool fits = !writer.overflow && cm_crypto_base64(bytes, writer.size, text, size);
    cm_crypto_wipe(bytes, sizeof bytes);
    return fits;
}

bool cm_token_pass_read(const char *text, cm_token_pass *pass)
{
    uint8_t bytes[PASS_BYTES_MAX];
    memset(pass, 0, sizeof *pass);
    size_t length = strnlen(text, CAROM_TOKEN_TEXT_MAX);
    cm_byte_reader reader =
        cm_byte_reader_make(bytes, cm_crypto_unbase64(text, length, bytes, sizeof bytes));
    pass->sealed_size = cm_get_u16(&reader);
    cm_token header;
    size_t ip_size;
    const uint8_t *sealed =
        pass->sealed_size <= CM_TOKEN_MAX ? cm_get_bytes(&reader, pass->sealed_size) : NULL;
    if (sealed == NULL || !read_header(sealed, pass->sealed_size, &header, &ip_size)) {
        return false;
    }
    memcpy(pass->sealed, sealed, pass->sealed_size);
    const uint8_t *key = cm_get_bytes(&reader, CM_KEY_BYTES);
    if (key == NULL || !get_addresses(&reader, pass->servers, &pass->server_count, ip_size)) {
        return false;
    }
    memcpy(pass->key, key, CM_KEY_BYTES);
    return cm_bytes_left(&reader) == 0 && pass->server_count > 0;
}
