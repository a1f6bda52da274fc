// Goal: a token says to the server what its backend said, to nobody else anything, and any change
// of it is refused. Method: issue through the public API, open with and without keys; every byte of
// the sealed part and every character of the text changed in turn; fields at their limits and
// above.
#include "shared/wire/token.h"

#include <criterion/criterion.h>
#include <string.h>

static void setup(carom_token_key *key, carom_token_def *def)
{
    cr_assert_eq(carom_token_key_make(7, key), CAROM_OK);
    *def = carom_default_token_def();
    def->client_id = UINT64_C(0x1122334455667788);
    def->expires_unix_s = 2000000000;
    def->servers[0] = "203.0.113.7:7777";
}

Test(token, says_what_was_issued)
{
    carom_token_key key;
    carom_token_def def;
    setup(&key, &def);
    static const uint8_t data[3] = {1, 0, 255};
    def.servers[1] = "127.0.0.1:65535";
    def.bound_address = "10.0.0.255";
    def.room = "arena";
    def.name = "Zo\xc3\xab";
    def.user_data = data;
    def.user_data_size = sizeof data;
    char text[CAROM_TOKEN_TEXT_MAX];
    const char *field;
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, &field), CAROM_OK);
    cr_assert_null(field);
    carom_token token;
    cr_assert_eq(carom_token_read(text, &key, &token), CAROM_OK);
    cr_assert(token.opened && token.is_bound);
    cr_assert_eq(token.key_id, 7);
    cr_assert_eq(token.client_id, def.client_id);
    cr_assert_eq(token.expires_unix_s, def.expires_unix_s);
    cr_assert_eq(token.server_count, 2);
    cr_assert_arr_eq(token.servers[0].ip, CM_ADDRESS_IPV4(203, 0, 113, 7, 0).ip, CM_ADDRESS_BYTES);
    cr_assert_eq(token.servers[0].port, 7777);
    cr_assert_eq(token.servers[1].port, 65535);
    cr_assert_arr_eq(token.bound_ip, CM_ADDRESS_IPV4(10, 0, 0, 255, 0).ip, CM_ADDRESS_BYTES);
    cr_assert_str_eq(token.room, "arena");
    cr_assert_str_eq(token.name, "Zo\xc3\xab");
    cr_assert_eq(token.user_data_size, 3);
    cr_assert_arr_eq(token.user_data, data, 3);
}

Test(token, without_the_key_it_tells_the_way_alone)
{
    carom_token_key key, other;
    carom_token_def def;
    setup(&key, &def);
    def.name = "Ann";
    char text[CAROM_TOKEN_TEXT_MAX];
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, NULL), CAROM_OK);
    carom_token token;
    cr_assert_eq(carom_token_read(text, NULL, &token), CAROM_OK);
    cr_assert_not(token.opened);
    cr_assert_eq(token.server_count, 1);
    cr_assert_eq(token.servers[0].port, 7777);
    cr_assert_eq(token.client_id, 0);
    cr_assert_str_empty(token.name);
    // Another secret under the same id, another id.
    cr_assert_eq(carom_token_key_make(7, &other), CAROM_OK);
    cr_assert_eq(carom_token_read(text, &other, &token), CAROM_ERROR_CORRUPT);
    cr_assert_not(token.opened);
    other = key;
    other.id = 8;
    cr_assert_eq(carom_token_read(text, &other, &token), CAROM_ERROR_CORRUPT);
}

Test(token, largest_fits_a_path_of_548_bytes)
{
    carom_token_key key;
    carom_token_def def;
    setup(&key, &def);
    char room[CAROM_TOKEN_ROOM_MAX + 1], name[CAROM_TOKEN_NAME_MAX + 1];
    uint8_t data[CAROM_TOKEN_DATA_MAX];
    memset(room, 'r', sizeof room);
    memset(name, 'n', sizeof name);
    memset(data, 0xff, sizeof data);
    room[CAROM_TOKEN_ROOM_MAX] = name[CAROM_TOKEN_NAME_MAX] = '\0';
    for (uint32_t i = 0; i < CAROM_TOKEN_SERVERS_MAX; i++) {
        def.servers[i] = "255.255.255.255:65535";
    }
    def.bound_address = "255.255.255.255";
    def.room = room;
    def.name = name;
    def.user_data = data;
    def.user_data_size = sizeof data;
    char text[CAROM_TOKEN_TEXT_MAX];
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, NULL), CAROM_OK);
    cm_token_pass pass;
    cr_assert(cm_token_pass_read(text, &pass));
    cr_assert_eq(pass.sealed_size, CM_TOKEN_MAX);
    carom_token token;
    cr_assert_eq(carom_token_read(text, &key, &token), CAROM_OK);
    cr_assert_str_eq(token.room, room);
    // Its text wants just that much room.
    cr_assert_eq(carom_token_issue(&def, &key, text, strlen(text) + 1, NULL), CAROM_OK);
    cr_assert_eq(carom_token_issue(&def, &key, text, strlen(text), NULL), CAROM_ERROR_MEMORY);
}

// Format 2 is for IPv6 alone, and has no more bytes than every path carries.
Test(token, names_ipv6_in_format_2)
{
    carom_token_key key;
    carom_token_def def;
    setup(&key, &def);
    char text[CAROM_TOKEN_TEXT_MAX];
    const char *field;
    cm_token_pass pass;
    carom_token token;
    def.servers[0] = "[::ffff:203.0.113.7]:7777"; // mapped is IPv4
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, NULL), CAROM_OK);
    cr_assert(cm_token_pass_read(text, &pass));
    cr_assert_eq(pass.sealed[0], 1);
    cr_assert(cm_address_equal(&pass.servers[0], &CM_ADDRESS_IPV4(203, 0, 113, 7, 7777)));

    def.servers[1] = "[2001:db8::1]:65535";
    def.bound_address = "2001:db8::9";
    def.name = "Ann";
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, NULL), CAROM_OK);
    cr_assert(cm_token_pass_read(text, &pass));
    cr_assert_eq(pass.sealed[0], 3);
    cr_assert_eq(carom_token_read(text, &key, &token), CAROM_OK);
    cr_assert(cm_address_equal(&token.servers[0], &CM_ADDRESS_IPV4(203, 0, 113, 7, 7777)));
    char written[CM_ADDRESS_TEXT_MAX];
    cm_address_write(&token.servers[1], written);
    cr_assert_str_eq(written, "[2001:db8::1]:65535");
    cm_address_write_ip(token.bound_ip, written);
    cr_assert_str_eq(written, "2001:db8::9");
    cr_assert_str_eq(token.name, "Ann");
    // An open part of the other format is no token: the servers are 16 bytes each.
    pass.sealed[0] = 1;
    cr_assert(cm_token_pass_write(&pass, text, sizeof text));
    cr_assert_eq(carom_token_read(text, &key, &token), CAROM_ERROR_CORRUPT);

    static const uint8_t data[CAROM_TOKEN_DATA_MAX];
    def = carom_default_token_def();
    def.client_id = def.expires_unix_s = 9;
    def.room = "0123456789012345678901234567890";
    def.name = "01234567890123456789012345678901";
    def.user_data = data;
    def.user_data_size = sizeof data;
    def.servers[0] = "[::1]:1"; // one beside the largest of everything
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, &field), CAROM_OK);
    def.servers[1] = def.servers[2] = "[::1]:2";
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, &field), CAROM_ERROR_ARGUMENT);
    cr_assert_str_eq(field, "user_data");
    def.user_data_size -= 26;
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, &field), CAROM_OK);
    cr_assert(cm_token_pass_read(text, &pass));
    cr_assert_eq(pass.sealed_size, CM_TOKEN_MAX);
}

// Whatever is wrong in a def is named.
Test(token, refuses_what_no_server_takes)
{
    static const char *const addresses[] = {
        "",           "1.2.3.4",    "1.2.3.4:0", "1.2.3:5",        "1.2.3.256:5", "1.2.3.4:65536",
        "01.2.3.4:5", "1.2.3.4:5 ", "host:7777", "1.2.3.4:-1",     "1.2.3.4.5:6", "1.2.3.4:007",
        "::1:5",      "[::1]",      "[::1]:0",   "[fe80::1%lo]:5", "[1.2.3.4]:5", "[::1]:5 "};
    carom_token_key key;
    carom_token_def def;
    char text[CAROM_TOKEN_TEXT_MAX];
    const char *field;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        setup(&key, &def);
        def.servers[0] = addresses[i];
        cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, &field), CAROM_ERROR_ARGUMENT,
                     "%s", addresses[i]);
        cr_assert_str_eq(field, "servers");
    }
#define REFUSES(change, name)                                                                      \
    setup(&key, &def);                                                                             \
    change;                                                                                        \
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, &field), CAROM_ERROR_ARGUMENT);  \
    cr_assert_str_eq(field, name)
    REFUSES(def.servers[0] = NULL, "servers");
    REFUSES(def.client_id = 0, "client_id");
    REFUSES(def.expires_unix_s = 0, "expires_unix_s");
    REFUSES(def.bound_address = "1.2.3.4:5", "bound_address");
    REFUSES(def.room = "a\nb", "room");
    REFUSES(def.room = "0123456789012345678901234567890x", "room");
    REFUSES(def.name = "\xff", "name");
    REFUSES(def.name = "0123456789012345678901234567890123", "name");
    REFUSES(def.user_data_size = 1, "user_data");
    REFUSES(key.id = 0, "key");
}

// One bit of each byte, each length: never opened, never another meaning.
Test(token, any_change_is_refused)
{
    carom_token_key key;
    carom_token_def def;
    setup(&key, &def);
    char text[CAROM_TOKEN_TEXT_MAX];
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, NULL), CAROM_OK);
    cm_token_pass pass;
    cr_assert(cm_token_pass_read(text, &pass));
    cm_token token;
    cr_assert_eq(cm_token_open(pass.sealed, pass.sealed_size, &key, 1, &token), CAROM_OK);
    for (size_t i = 0; i < 8 * pass.sealed_size; i++) {
        pass.sealed[i / 8] ^= (uint8_t)(1u << i % 8);
        cr_assert_neq(cm_token_open(pass.sealed, pass.sealed_size, &key, 1, &token), CAROM_OK,
                      "bit %zu", i);
        pass.sealed[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t size = 0; size < pass.sealed_size; size++) {
        cr_assert_neq(cm_token_open(pass.sealed, size, &key, 1, &token), CAROM_OK);
    }
}

// What a backend sealed behind the last field would be data that nobody reads: refused.
Test(token, nothing_stands_behind_its_fields)
{
    carom_token_key key;
    carom_token_def def;
    setup(&key, &def);
    char text[CAROM_TOKEN_TEXT_MAX];
    cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, NULL), CAROM_OK);
    cm_token_pass pass;
    cr_assert(cm_token_pass_read(text, &pass));
    uint8_t plain[CM_TOKEN_MAX] = {0};
    size_t size = pass.sealed_size - CM_TOKEN_HEADER;
    memcpy(plain, pass.sealed + CM_TOKEN_HEADER, size);
    cr_assert(cm_crypto_token_open(plain, size, pass.sealed, CM_TOKEN_HEADER, pass.sealed + 13,
                                   key.secret));
    size -= CM_TAG_BYTES;
    for (size_t more = 0; more < 3; more++) { // as it was, a byte more, two
        plain[size] = plain[size + 1] = 0;
        memcpy(pass.sealed + CM_TOKEN_HEADER, plain, size + more);
        cm_crypto_token_seal(pass.sealed + CM_TOKEN_HEADER, size + more, pass.sealed,
                             CM_TOKEN_HEADER, pass.sealed + 13, key.secret);
        cm_token token;
        carom_result result = cm_token_open(
            pass.sealed, CM_TOKEN_HEADER + size + more + CM_TAG_BYTES, &key, 1, &token);
        cr_assert_eq(result, more == 0 ? CAROM_OK : CAROM_ERROR_CORRUPT, "%zu more", more);
    }
}

// A text has one form: a character changed, added or left out is another token or none.
Test(token, text_has_one_form)
{
    carom_token_key key;
    carom_token_def def;
    setup(&key, &def);
    char text[CAROM_TOKEN_TEXT_MAX], changed[CAROM_TOKEN_TEXT_MAX];
    carom_token token;
    for (uint32_t name = 0; name < 3; name++) { // every length modulo 3
        def.name = &"abc"[name];
        cr_assert_eq(carom_token_issue(&def, &key, text, sizeof text, NULL), CAROM_OK);
        cr_assert_eq(carom_token_read(text, &key, &token), CAROM_OK);
        size_t length = strlen(text);
        for (size_t i = 0; i < length; i++) {
            strcpy(changed, text);
            changed[i] = '+';
            cr_assert_eq(carom_token_read(changed, NULL, &token), CAROM_ERROR_MAGIC);
            changed[i] = '\0';
            cr_assert_eq(carom_token_read(changed, NULL, &token), CAROM_ERROR_MAGIC);
        }
        strcpy(changed, text);
        strcat(changed, "A");
        cr_assert_eq(carom_token_read(changed, NULL, &token), CAROM_ERROR_MAGIC);
    }
}

Test(token, keys_are_read_as_written)
{
    carom_token_key key;
    cr_assert_eq(carom_token_key_make(4294967295u, &key), CAROM_OK);
    char text[512] = "# issued in November\n\n";
    size_t at = strlen(text);
    cr_assert_eq(carom_token_key_write(&key, text + at, 70), CAROM_ERROR_MEMORY);
    cr_assert_eq(carom_token_key_write(&key, text + at, 80), CAROM_OK);
    carom_token_keys keys;
    uint32_t line = 0;
    cr_assert_eq(carom_token_keys_read(text, strlen(text), &keys, &line), CAROM_OK);
    cr_assert_eq(keys.count, 1);
    cr_assert_eq(keys.keys[0].id, 4294967295u);
    cr_assert_arr_eq(keys.keys[0].secret, key.secret, sizeof key.secret);
    // Twice the same id; cut; no number; an empty file.
    size_t size = strlen(text);
    cr_assert_eq(carom_token_key_write(&key, text + size, 80), CAROM_OK);
    cr_assert_eq(carom_token_keys_read(text, strlen(text), &keys, &line), CAROM_ERROR_CORRUPT);
    cr_assert_eq(line, 4);
    cr_assert_eq(carom_token_keys_read(text, size - 2, &keys, &line), CAROM_ERROR_CORRUPT);
    cr_assert_eq(line, 3);
    cr_assert_eq(carom_token_keys_read("0 00", 4, &keys, &line), CAROM_ERROR_CORRUPT);
    cr_assert_eq(carom_token_keys_read("", 0, &keys, &line), CAROM_ERROR_NOT_FOUND);
}

Test(token, ticket_gives_a_slot_back)
{
    carom_token_key key;
    cr_assert_eq(carom_token_key_make(1, &key), CAROM_OK);
    cm_token ticket = {.kind = CM_TOKEN_RESUME, .match_id = UINT64_MAX - 1, .player = 63};
    ticket.body.client_id = 9;
    ticket.body.expires_unix_s = 100;
    ticket.body.key_id = key.id;
    memset(ticket.key, 3, sizeof ticket.key);
    uint8_t bytes[CM_TOKEN_MAX];
    size_t size = cm_token_seal(&ticket, &key, bytes);
    cr_assert_gt(size, CM_TOKEN_HEADER);
    cm_token opened;
    cr_assert_eq(cm_token_open(bytes, size, &key, 1, &opened), CAROM_OK);
    cr_assert_eq((int)opened.kind, CM_TOKEN_RESUME);
    cr_assert_eq(opened.match_id, UINT64_MAX - 1);
    cr_assert_eq(opened.player, 63);
    cr_assert_arr_eq(opened.key, ticket.key, sizeof ticket.key);
    bytes[0] = CM_TOKEN_CONNECT; // a ticket is no token
    cr_assert_eq(cm_token_open(bytes, size, &key, 1, &opened), CAROM_ERROR_CORRUPT);
    cr_assert_eq(cm_token_open(bytes, size, NULL, 0, &opened), CAROM_ERROR_NOT_FOUND);
}
