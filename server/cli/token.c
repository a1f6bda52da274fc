// `carom token keygen|issue|inspect|api-key`: keys and connect tokens, for operators without a
// backend, and for reading a token's contents.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/auth/api_keys.h"
#include "server/auth/key_file.h"
#include "server/cli/cli.h"
#include "shared/wire/token.h"

#define EXPIRES_S 300

static int keygen(int argc, char **argv)
{
    const char *out = NULL;
    int64_t id = 0;
    const cm_option options[] = {
        {"out", CM_OPTION_TEXT, &out, 0, 0, NULL, NULL},
        {"id", CM_OPTION_INT, &id, 1, UINT32_MAX, NULL, NULL},
    };
    int status = cm_cli_options(argc, argv, options, 2, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (out == NULL) {
        return cm_cli_usage("token keygen: expected --out FILE");
    }
    // By chance, so that the files of two keys can be put together.
    uint32_t drawn = 0;
    while (id == 0) {
        cm_crypto_random(&drawn, sizeof drawn);
        id = drawn;
    }
    carom_token_key key;
    char error[512];
    carom_result result = carom_token_key_make((uint32_t)id, &key);
    if (result == CAROM_OK) {
        result = cm_key_file_make(out, &key, error, sizeof error);
    } else {
        snprintf(error, sizeof error, "token keygen: %s", carom_result_text(result));
    }
    cm_crypto_wipe(&key, sizeof key);
    if (result != CAROM_OK) {
        cm_cli_error("%s", error);
        return result == CAROM_ERROR_STATE ? CM_STATUS_USAGE : CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

// Prints the key, once: the file has its hash alone.
static int api_key(int argc, char **argv)
{
    const char *keys = NULL, *scopes = "read", *name = NULL;
    uint32_t count = 0;
    const cm_option options[] = {{"keys", CM_OPTION_TEXT, &keys, 0, 0, NULL, NULL},
                                 {"scopes", CM_OPTION_TEXT, &scopes, 0, 0, NULL, NULL}};
    int status = cm_cli_options(argc, argv, options, 2, &name, 1, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count != 1 || keys == NULL) {
        return cm_cli_usage("token api-key: expected a name and --keys FILE");
    }
    char key[CM_API_KEY_TEXT_MAX], error[512];
    carom_result result = cm_api_keys_add(keys, name, scopes, key, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("token api-key: %s", error);
        return result == CAROM_ERROR_ARGUMENT ? CM_STATUS_USAGE : CM_STATUS_FAILED;
    }
    puts(key);
    cm_crypto_wipe(key, sizeof key);
    return cm_cli_finish(CM_STATUS_DONE);
}

// Hexadecimal digits into bytes; false for anything else, or too many.
static bool read_hex(const char *text, uint8_t *bytes, size_t capacity, uint32_t *size)
{
    size_t length = strlen(text);
    if (length % 2 != 0 || length / 2 > capacity ||
        strspn(text, "0123456789abcdefABCDEF") != length) {
        return false;
    }
    for (size_t i = 0; i < length / 2; i++) {
        unsigned value = 0;
        sscanf(text + 2 * i, "%2x", &value);
        bytes[i] = (uint8_t)value;
    }
    *size = (uint32_t)(length / 2);
    return true;
}

// "A:1,B:2" taken apart in place; false above the number that a token holds.
static bool split_servers(char *text, const char *servers[CAROM_TOKEN_SERVERS_MAX])
{
    uint32_t count = 0;
    while (text != NULL && count < CAROM_TOKEN_SERVERS_MAX) {
        servers[count++] = text;
        text = strchr(text, ',');
        if (text != NULL) {
            *text++ = '\0';
        }
    }
    return text == NULL;
}

static bool read_keys(const char *path, const char *command, carom_token_keys *keys)
{
    char error[512];
    if (path == NULL) {
        cm_cli_error("token %s: expected --key FILE", command);
        return false;
    }
    if (cm_key_file_read(path, keys, error, sizeof error) != CAROM_OK) {
        cm_cli_error("%s", error);
        return false;
    }
    return true;
}

static int print_token(const carom_token_def *def, const carom_token_key *key)
{
    char text[CAROM_TOKEN_TEXT_MAX];
    const char *field = NULL;
    carom_result result = carom_token_issue(def, key, text, sizeof text, &field);
    if (field != NULL && strcmp(field, "servers") == 0) {
        cm_cli_error("token issue: --server: expected up to %d addresses A.B.C.D:PORT or "
                     "[IPv6]:PORT with commas between them",
                     CAROM_TOKEN_SERVERS_MAX);
    } else if (field != NULL) {
        bool address = strcmp(field, "bound_address") == 0;
        cm_cli_error("token issue: --%s: too long or not of its form, see 'carom help token'",
                     address ? "address" : field);
    } else if (result != CAROM_OK) {
        return cm_cli_failed("token issue: %s", carom_result_text(result));
    } else {
        puts(text);
        return cm_cli_finish(CM_STATUS_DONE);
    }
    return CM_STATUS_USAGE;
}

static int issue(int argc, char **argv)
{
    const char *key_path = NULL, *client = NULL, *server = NULL, *data = NULL;
    int64_t expires = EXPIRES_S;
    carom_token_def def = carom_default_token_def();
    const cm_option options[] = {
        {"key", CM_OPTION_TEXT, &key_path, 0, 0, NULL, NULL},
        {"client-id", CM_OPTION_TEXT, &client, 0, 0, NULL, NULL},
        {"server", CM_OPTION_TEXT, &server, 0, 0, NULL, NULL},
        {"room", CM_OPTION_TEXT, &def.room, 0, 0, NULL, NULL},
        {"name", CM_OPTION_TEXT, &def.name, 0, 0, NULL, NULL},
        {"expires", CM_OPTION_INT, &expires, 1, 1000000000, NULL, NULL},
        {"address", CM_OPTION_TEXT, &def.bound_address, 0, 0, NULL, NULL},
        {"user-data", CM_OPTION_TEXT, &data, 0, 0, NULL, NULL},
        {"spectate", CM_OPTION_FLAG, &def.spectates, 0, 0, NULL, NULL},
    };
    int status =
        cm_cli_options(argc, argv, options, sizeof options / sizeof *options, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    uint8_t bytes[CAROM_TOKEN_DATA_MAX];
    if (data != NULL && !read_hex(data, bytes, sizeof bytes, &def.user_data_size)) {
        return cm_cli_usage(
            "token issue: --user-data: expected at most %d bytes of hexadecimal digits",
            CAROM_TOKEN_DATA_MAX);
    }
    def.user_data = bytes;
    if (!cm_cli_client_id("token issue", client, &def.client_id)) {
        return CM_STATUS_USAGE;
    }
    char list[256];
    if (server == NULL || strlen(server) >= sizeof list) {
        return cm_cli_usage("token issue: expected --server HOST:PORT");
    }
    strcpy(list, server);
    if (!split_servers(list, def.servers)) {
        return cm_cli_usage("token issue: --server: more than %d addresses",
                            CAROM_TOKEN_SERVERS_MAX);
    }
    carom_token_keys keys;
    if (!read_keys(key_path, "issue", &keys)) {
        return CM_STATUS_USAGE;
    }
    def.expires_unix_s = (uint64_t)time(NULL) + (uint64_t)expires;
    status = print_token(&def, &keys.keys[0]);
    cm_crypto_wipe(&keys, sizeof keys);
    return status;
}

static json_t *hex(const uint8_t *bytes, uint32_t size)
{
    char text[2 * CAROM_TOKEN_DATA_MAX + 1] = "";
    for (uint32_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
    return json_string(text);
}

// The field of the clear half that differs from the sealed half; NULL: none. Someone who passed the
// token on may have changed it: its client would connect to other servers, or with a wrong key.
static const char *differs(const cm_token_pass *pass, const cm_token *token)
{
    bool same = pass->server_count == token->body.server_count;
    for (uint32_t i = 0; same && i < pass->server_count; i++) {
        same = memcmp(&pass->servers[i], &token->body.servers[i], sizeof pass->servers[i]) == 0;
    }
    return !same                                                   ? "servers"
           : memcmp(pass->key, token->key, sizeof token->key) != 0 ? "connection key"
                                                                   : NULL;
}

static int print_json(const carom_token *token, const char *other)
{
    char text[CM_ADDRESS_TEXT_MAX];
    json_t *servers = json_array();
    for (uint32_t i = 0; i < token->server_count; i++) {
        cm_address_write(&token->servers[i], text);
        json_array_append_new(servers, json_string(text));
    }
    json_t *object = json_object();
    snprintf(text, sizeof text, "%llu", (unsigned long long)token->client_id);
    json_object_set_new(object, "client_id", json_string(text)); // 64 bits: a text, as in scenes
    json_object_set_new(object, "key_id", json_integer(token->key_id));
    json_object_set_new(object, "expires", json_integer((json_int_t)token->expires_unix_s));
    json_object_set_new(object, "expired",
                        json_boolean((uint64_t)time(NULL) >= token->expires_unix_s));
    json_object_set_new(object, "servers", servers);
    cm_address_write_ip(token->bound_ip, text);
    json_object_set_new(object, "address", token->is_bound ? json_string(text) : json_null());
    json_object_set_new(object, "room", json_string(token->room));
    json_object_set_new(object, "name", json_string(token->name));
    json_object_set_new(object, "spectates", json_boolean(token->spectates));
    json_object_set_new(object, "user_data", hex(token->user_data, token->user_data_size));
    json_object_set_new(object, "clear_part_differs",
                        other != NULL ? json_string(other) : json_null());
    char *line = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    if (line == NULL) {
        return cm_cli_failed("token inspect: out of memory");
    }
    puts(line);
    free(line);
    if (other != NULL) {
        cm_cli_error("token inspect: %s: the clear part, which clients read, says other than the "
                     "sealed one, which is printed",
                     other);
    }
    return cm_cli_finish(other == NULL ? CM_STATUS_DONE : CM_STATUS_FAILED);
}

static int inspect(int argc, char **argv)
{
    const char *key_path = NULL, *text = NULL;
    uint32_t count = 0;
    const cm_option options[] = {{"key", CM_OPTION_TEXT, &key_path, 0, 0, NULL, NULL}};
    int status = cm_cli_options(argc, argv, options, 1, &text, 1, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count != 1) {
        return cm_cli_usage("token inspect: expected a token");
    }
    carom_token_keys keys;
    if (!read_keys(key_path, "inspect", &keys)) {
        return CM_STATUS_USAGE;
    }
    cm_token_pass pass;
    cm_token token;
    bool is_token = cm_token_pass_read(text, &pass);
    carom_result result = CAROM_ERROR_MAGIC;
    if (is_token) {
        result = cm_token_open(pass.sealed, pass.sealed_size, keys.keys, keys.count, &token);
    }
    cm_crypto_wipe(&keys, sizeof keys);
    if (result != CAROM_OK) {
        return cm_cli_usage("token inspect: %s",
                            is_token ? "changed, cut short, or sealed by none of the keys"
                                     : "not a token");
    }
    int printed = print_json(&token.body, differs(&pass, &token));
    cm_crypto_wipe(&pass, sizeof pass);
    cm_crypto_wipe(&token, sizeof token);
    return printed;
}

static int run_command(int argc, char **argv)
{
    static struct {
        char name[16];
        int (*run)(int argc, char **argv);
    } verbs[] = {{"token keygen", keygen},
                 {"token issue", issue},
                 {"token inspect", inspect},
                 {"token api-key", api_key}};
    if (!cm_crypto_init()) {
        return cm_cli_failed("token: the cryptography library does not work on this machine");
    }
    for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(argv[1], verbs[i].name + strlen("token ")) == 0) {
            argv[1] = verbs[i].name; // messages name the command
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    return cm_cli_usage(
        "token: expected keygen, issue, inspect or api-key, see 'carom help token'");
}

const cm_command cm_token_command = {
    "token", run_command,
    "keys and connect tokens\n"
    "usage: carom token keygen --out FILE [--id N]\n"
    "       carom token issue --key FILE --client-id N --server HOST:PORT[,HOST:PORT …]\n"
    "                         [--room NAME] [--name NAME] [--expires SECONDS]\n"
    "                         [--address ADDRESS] [--user-data HEX] [--spectate]\n"
    "       carom token inspect --key FILE TOKEN\n"
    "       carom token api-key NAME --keys FILE [--scopes LIST]\n"
    "\n"
    "keygen  makes a key file (mode 0600) that a backend and its servers share; it overwrites "
    "none.\n"
    "        Without --id the key's id is drawn by chance. A file may hold several keys, a line\n"
    "        each: the first issues, all are accepted, so that keys can rotate.\n"
    "issue   prints a token, one line: who may connect, where, until when. It lets a client in "
    "once.\n"
    "  --client-id N      the player's number with the backend, 1 or more\n"
    "  --server LIST      up to four addresses, as the servers name themselves\n"
    "  --room NAME        the room; without it the server's default one\n"
    "  --name NAME        of the player, at most 32 bytes\n"
    "  --expires SECONDS  from now, default " CM_HELP(
        EXPIRES_S) "\n"
                   "  --address ADDRESS  the only one that may use it, A.B.C.D or IPv6\n"
                   "  --user-data HEX    at most 256 bytes, handed to the module\n"
                   "  --spectate         it lets in a spectator, never a player\n"
                   "inspect prints what a token says, as JSON; status 1 where the part that "
                   "clients "
                   "read\n        (servers, connection key) is not the sealed one's.\n"
                   "api-key makes a key for an operator of /api/v1, prints it, and adds its line "
                   "to the file that\n"
                   "        serve --api-keys names (made with mode 0600 where there is none), "
                   "which "
                   "keeps its hash\n"
                   "        alone. To take one back, take its line out; SIGHUP reads the file "
                   "again.\n"
                   "  --scopes LIST  what it may do, with commas between: read (default), rooms, "
                   "players, server\n",
    NULL};
