// Goal: /api/v1 tells and does what its table says, for whom a key lets, and nothing else; what it
// says is what proto/api.proto has. Method: `carom serve` in a child process, asked over real
// sockets, its answers read by the messages' descriptors; parts of lists and paths by themselves.
#include <criterion/criterion.h>
#include <jansson.h>
#include <sys/stat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/api.pb-c.h"
#include "server/auth/api_keys.h"
#include "server/config/room_spec.h"
#include "server/node/node.h"
#include "server/supervisor/api_document.h"
#include "server/supervisor/api_lists.h"
#include "server/supervisor/api_routes.h"
#include "shared/wire/crypto.h"
#include "tests/unit/node/serving.h"

#define MESSAGE(name) &cm__api__##name##__descriptor

typedef struct site {
    serving server;
    unsigned port;
    char keys[160];
    char all[CM_API_KEY_TEXT_MAX], reader[CM_API_KEY_TEXT_MAX], players[CM_API_KEY_TEXT_MAX];
    char body[1 << 16], head[1 << 16];
} site;

static site s;

static void add_key(const char *name, const char *scopes, char key[CM_API_KEY_TEXT_MAX])
{
    char error[256];
    cr_assert_eq(cm_api_keys_add(s.keys, name, scopes, key, error, sizeof error), CAROM_OK, "%s",
                 error);
}

static void start(char *workers, bool with_keys)
{
    char address[256];
    unsetenv("CAROM_BINARY");
    cr_assert(cm_crypto_init());
    serving_make_directory(&s.server);
    snprintf(s.keys, sizeof s.keys, "%s/keys", s.server.directory);
    add_key("all", "read,rooms,players,server", s.all);
    add_key("reader", "read", s.reader);
    add_key("players", "players", s.players);
    char *argv[] = {"carom",
                    "serve",
                    "--insecure",
                    "--workers",
                    workers,
                    "--listen",
                    "127.0.0.1:0",
                    "--room",
                    "a=tests/scenes/sandbox.json",
                    "--room",
                    "b\"/%=tests/scenes/sandbox.json",
                    "--matches",
                    s.server.matches,
                    "--http",
                    "127.0.0.1:0",
                    "--ready-file",
                    s.server.ready,
                    "--status-interval-ms",
                    "100",
                    with_keys ? "--api-keys" : NULL,
                    s.keys,
                    NULL};
    serving_start(&s.server, argv);
    serving_wait_for_size(&s.server, s.server.ready, 1);
    serving_wait_for_log(&s.server, "http", 1);
    cr_assert_eq(serving_read_log(s.server.err, "http", "address", address), 1);
    s.port = (unsigned)strtoul(strrchr(address, ':') + 1, NULL, 10);
}

static void end(void)
{
    kill(s.server.pid, SIGTERM);
    cr_expect_eq(serving_finish(&s.server), 0);
    serving_remove_directory(&s.server);
}

// The status; s.head has all, s.body what follows the head. `key` NULL: none is shown.
static uint32_t ask(const char *method, const char *path, const char *key, const char *more,
                    const char *body)
{
    static char request[16384];
    char *found, *text = s.head;
    size_t size;
    int at = snprintf(request, sizeof request, "%s /api/v1/%s HTTP/1.1\r\nHost: localhost\r\n%s",
                      method, path, more);
    if (key != NULL) {
        at += snprintf(request + at, sizeof request - (size_t)at, "Authorization: Bearer %s\r\n",
                       key);
    }
    if (body != NULL) {
        at += snprintf(request + at, sizeof request - (size_t)at,
                       "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    }
    snprintf(request + at, sizeof request - (size_t)at, "\r\n%s", body != NULL ? body : "");
    uint32_t status = serving_http(s.port, request, text, sizeof s.head, &found, &size);
    memcpy(s.body, found, size + 1);
    return status;
}

// The body is a message of this descriptor, with no other key.
static void expect_is(const ProtobufCMessageDescriptor *message)
{
    cm_api_route route = {.body = message};
    cm_scene_error error;
    cr_expect(cm_api_check_body(&route, s.body, strlen(s.body), &error), "%s: %s: %s", s.body,
              error.path, error.message);
}

static void expect(const char *method, const char *path, const char *key, const char *body,
                   uint32_t status, const char *code)
{
    char said[64];
    uint32_t got = ask(method, path, key, "", body);
    cr_expect_eq(got, status, "%s %s: %u: %s", method, path, (unsigned)got, s.body);
    expect_is(code != NULL ? MESSAGE(failure_answer) : MESSAGE(done));
    if (code != NULL) {
        snprintf(said, sizeof said, "{\"error\":{\"code\":\"%s\",", code);
        cr_expect_eq(strncmp(s.body, said, strlen(said)), 0, "%s: %s", path, s.body);
    }
}

static void expect_lists(void)
{
    cr_expect_eq(ask("GET", "server", NULL, "", NULL), 200);
    expect_is(MESSAGE(server));
    cr_expect_eq(ask("GET", "rooms", NULL, "", NULL), 200);
    expect_is(MESSAGE(room_list));
    cr_expect_not_null(strstr(s.body, "\"match\""), "on loopback, by its own name");
    cr_expect_eq(ask("GET", "rooms?limit=1", NULL, "", NULL), 200);
    expect_is(MESSAGE(room_list));
    cr_expect_not_null(strstr(s.body, "\"next\":\"a\"}"), "%s", s.body);
    cr_expect_eq(ask("GET", "rooms?limit=1&after=a", NULL, "", NULL), 200);
    cr_expect_not_null(strstr(s.body, "\"room\":\"b\\\"/%\""), "%s", s.body);
    cr_expect_null(strstr(s.body, "\"next\""));
    cr_expect_eq(ask("GET", "rooms/b%22%2f%25", s.reader, "", NULL), 200, "%s", s.body);
    expect_is(MESSAGE(room));
    cr_expect_eq(ask("GET", "openapi.json", NULL, "", NULL), 200);
    cr_expect_eq(strncmp(s.body, "{\"openapi\":\"3.1.0\"", 18), 0, "%s", s.body);
    cr_expect_eq(ask("HEAD", "rooms", NULL, "", NULL), 200);
    cr_expect_str_eq(s.body, "");
    expect("GET", "rooms?limit=0", NULL, NULL, 400, "argument");
    expect("GET", "rooms?after=%zz", NULL, NULL, 400, "argument");
    expect("GET", "rooms/none", NULL, NULL, 404, "not_found");
    expect("GET", "rooms/none/players", NULL, NULL, 404, "not_found");
    expect("GET", "rooms/a/none", NULL, NULL, 404, "path");
    expect("GET", "rooms/a%00", NULL, NULL, 404, "path");
    expect("GET", "rooms/a%ff", NULL, NULL, 404, "path");
    expect("GET", "", NULL, NULL, 404, "path");
}

static void expect_players(void)
{
    uint16_t port = 0;
    char address[256];
    serving_read_text(s.server.ready, address, sizeof address);
    port = (uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10);
    carom_client *client = serving_play_in("a", NULL, port);
    do {
        carom_client_update(client, cm_now_us());
        cr_assert_eq(ask("GET", "rooms/a/players", NULL, "", NULL), 200);
    } while (strstr(s.body, "\"player\":0") == NULL);
    expect_is(MESSAGE(player_list));
    cr_expect_not_null(strstr(s.body, "\"name\":"));
    expect("POST", "rooms/a/messages", s.players,
           "{\"text\": \"h\\u00e9 \\\"you\\\"\", \"who\": 0}", 200, NULL);
    expect("POST", "rooms/a/messages", s.players, "{\"text\":\"x\",\"who\":9}", 404, "not_found");
    expect("POST", "rooms/a/messages", s.players, "{\"text\":\"\\n\"}", 400, "argument");
    expect("DELETE", "rooms/a/players/9", s.players, NULL, 404, "not_found");
    expect("DELETE", "rooms/a/players/x", s.players, NULL, 400, "argument");
    expect("DELETE", "rooms/a/players/0", s.players, NULL, 200, NULL);
    carom_client_destroy(client);
}

static void expect_refusals(void)
{
    static const char *const bodies[] = {
        "[]",
        "{",
        "{\"room\":\"c\"}",
        "{\"room\":\"c\",\"scene\":3}",
        "{\"room\":\"c\",\"room\":\"d\",\"scene\":\"x\"}",
        "{\"room\":\"c\",\"scene\":\"x\",\"command\":\"drain\"}",
        "{\"room\":\"c\",\"scene\":\"x\",\"by\":\"me\"}",
        "{\"room\":\"c\",\"scene\":\"x\",\"with\":{\"workers\":1}}",
        "{\"room\":\"c\",\"scene\":\"x\",\"with\":{\"max_players\":0}}",
        "{\"room\":\"c\",\"scene\":\"none-there\"}",
        "{\"room\":\"c,d\",\"scene\":\"tests/scenes/sandbox.json\"}",
        "{\"room\":\"c\",\"scene\":\"x\"} {}",
        "{\"room\":\"c\",\"scene\":\"\\u0000\"}"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        expect("POST", "rooms", s.all, bodies[i], 400, "argument");
    }
    cr_expect_eq(ask("POST", "rooms", s.all, "", "{\"room\":3,\"scene\":\"x\"}"), 400);
    cr_expect_not_null(strstr(s.body, "\"field\":\"$.room\""), "%s", s.body);
    char untyped[160];
    snprintf(untyped, sizeof untyped, "Authorization: Bearer %s\r\nContent-Length: 4\r\n\r\n{}",
             s.all);
    cr_expect_eq(ask("POST", "rooms", NULL, untyped, NULL), 415, "%s", s.body);
    expect("POST", "rooms", s.all, NULL, 411, "length");
    static char big[4098];
    memset(big, ' ', sizeof big - 1);
    expect("POST", "rooms", s.all, big, 413, "body");
    memcpy(big, "{\"room\":\"c\",\"scene\":\"", 21);
    memset(big + 21, 'x', 4096 - 23);
    memcpy(big + 4094, "\"}", 3);
    expect("POST", "rooms", s.all, big, 413, "body");
    expect("DELETE", "rooms", s.all, NULL, 405, "method");
    cr_expect_not_null(strstr(s.head, "\r\nAllow: GET, HEAD, POST, OPTIONS\r\n"), "%s", s.head);
    expect("DELETE", "rooms/none", s.all, NULL, 404, "not_found");
    cr_expect_eq(ask("OPTIONS", "drain", NULL, "", NULL), 204);
    cr_expect_not_null(strstr(s.head, "\r\nAllow: POST, OPTIONS\r\n"), "%s", s.head);
}

static void expect_scopes(void)
{
    static const struct {
        const char *method, *path, *body;
        bool for_players;
    } rows[] = {{"POST", "rooms", "{\"room\":\"c\",\"scene\":\"x\"}", false},
                {"DELETE", "rooms/none", NULL, false},
                {"DELETE", "rooms/none/players/0", NULL, true},
                {"POST", "rooms/none/messages", "{\"text\":\"x\"}", true},
                {"POST", "drain", "{}", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(rows[i].method, rows[i].path, NULL, rows[i].body, 401, "key");
        cr_expect_not_null(strstr(s.head, "\r\nWWW-Authenticate: Bearer\r\n"));
        expect(rows[i].method, rows[i].path, s.reader, rows[i].body, 403, "scope");
        expect(rows[i].method, rows[i].path, s.players, rows[i].body,
               rows[i].for_players ? 404 : 403, rows[i].for_players ? "not_found" : "scope");
    }
    expect("GET", "rooms", s.players, NULL, 403, "scope");
    cr_expect_eq(ask("DELETE", "rooms/none", s.all, "Origin: http://evil.example\r\n", NULL), 403);
    cr_expect_eq(ask("DELETE", "rooms/none", s.all, "Origin: null\r\n", NULL), 403);
    cr_expect_eq(ask("DELETE", "rooms/none", s.all, "Origin: http://localhost\r\n", NULL), 404);
}

// Last: the address has its share of them for the minute then.
static void expect_wrong_keys(void)
{
    char key[256];
    for (uint32_t i = 0; i < CM_API_WRONG_KEYS + 3; i++) {
        snprintf(key, sizeof key, "%s", s.all);
        key[i % 2 == 0 ? strlen(key) - 1 - i : strlen(key)] = i % 2 == 0 ? '\0' : 'A';
        key[strlen(s.all) + 1] = '\0';
        bool many = i >= CM_API_WRONG_KEYS;
        expect("GET", "rooms", key, NULL, many ? 429 : 401, many ? "rate" : "key");
    }
    cr_expect_eq(serving_read_log(s.server.err, "api key refused", "address", key),
                 CM_API_WRONG_KEYS);
    cr_expect_eq(ask("GET", "rooms", s.reader, "", NULL), 200, "a right key passes");
}

static void run_all(char *workers)
{
    char by[256];
    start(workers, true);
    expect_lists();
    expect_players();
    expect_refusals();
    expect_scopes();
    expect("POST", "rooms", s.all,
           "{\n \"room\": \"c\", \"scene\": \"tests/scenes/sandbox.json\", \"with\": "
           "{\"max_players\": 3}\n}",
           201, NULL);
    cr_expect_eq(serving_read_log(s.server.err, "admin", "by", by) > 0, true);
    cr_expect_str_eq(by, "all");
    expect("POST", "rooms", s.all, "{\"room\":\"c\",\"scene\":\"tests/scenes/sandbox.json\"}", 409,
           "conflict");
    expect("DELETE", "rooms/c", s.all, NULL, 200, NULL);
    expect("DELETE", "rooms/c", s.all, NULL, 404, "not_found");
    expect_wrong_keys();
    expect("POST", "drain", s.all, "{\"seconds\": 1, \"handover\": true}", 400, "argument");
    expect("POST", "drain", s.all, "{\"seconds\": 86400}", 202, NULL);
    expect("POST", "rooms", s.all, "{\"room\":\"d\",\"scene\":\"tests/scenes/sandbox.json\"}", 409,
           "conflict");
    end();
}

Test(api, workers_tell_and_do)
{
    run_all("1");
}

Test(api, one_process_tells_and_does)
{
    run_all("0");
}

// Without keys nobody may change anything; a file that others read is refused.
Test(api, without_keys_it_tells_what_strangers_may_know)
{
    start("0", false);
    cr_expect_eq(ask("GET", "rooms", NULL, "", NULL), 200);
    expect("POST", "drain", NULL, "{}", 401, "key");
    expect("POST", "drain", s.all, "{}", 401, "key");
    end();
}

// Goal: SIGHUP takes a key away. Method: its line is taken out of the file.
Test(api, keys_are_read_again)
{
    start("0", true);
    cr_expect_eq(ask("GET", "rooms", s.reader, "", NULL), 200);
    char key[CM_API_KEY_TEXT_MAX];
    cr_assert_eq(unlink(s.keys), 0);
    add_key("other", "read", key);
    kill(s.server.pid, SIGHUP);
    serving_wait_for_log(&s.server, "api keys read again", 1);
    cr_expect_eq(ask("GET", "rooms", s.reader, "", NULL), 401);
    cr_expect_eq(ask("GET", "rooms", key, "", NULL), 200);
    cr_assert_eq(chmod(s.keys, 0644), 0);
    kill(s.server.pid, SIGHUP);
    serving_wait_for_log(&s.server, "api keys not read again", 1);
    cr_expect_eq(ask("GET", "rooms", key, "", NULL), 200, "those that were there hold");
    end();
}

// Goal: pages of a list are in order and whole, whatever order workers told it in. Method: 250
// rooms in the order of a stride; names that JSON escapes.
Test(api, parts_of_a_list_make_the_whole)
{
    cm_page *list = cm_page_create();
    char line[64];
    for (uint32_t i = 0; i < 250; i++) {
        snprintf(line, sizeof line, "%s{\"room\":\"r%03u\\\"}\",\"n\":%u}", i == 0 ? "[" : ",\n",
                 (unsigned)(i * 77 % 250), (unsigned)(i * 77 % 250));
        cm_page_text(list, line);
    }
    cm_page_text(list, "]\n");
    cm_api_part part = {.limit = 60};
    uint32_t next = 0;
    for (uint32_t i = 0; i < 5; i++) {
        cm_page *page = cm_page_create();
        cm_api_list_write(list, &part, page);
        cm_page_bytes(page, "", 1); // a page is bytes: a text ends
        for (uint32_t n = 0; n < (i < 4 ? 60 : 10); n++, next++) {
            snprintf(line, sizeof line, "\"n\":%u}", (unsigned)next);
            cr_expect_not_null(strstr(page->text, line), "%s", line);
        }
        snprintf(line, sizeof line, "\"next\":\"r%03u\\\"}\"", (unsigned)(next - 1));
        cr_expect_eq(strstr(page->text, line) != NULL, i < 4);
        snprintf(part.after, sizeof part.after, "r%03u\"}", (unsigned)(next - 1));
        cm_page_drop(page);
    }
    cr_expect(cm_api_list_has(list, "r007\"}"));
    cr_expect_not(cm_api_list_has(list, "r007"));
    cm_page_drop(list);
}

// Goal: the documents have each route and each field of its messages, and what they refer to.
// Method: read as JSON; references found among the schemas.
static void expect_schema(const json_t *root, const ProtobufCMessageDescriptor *message)
{
    const json_t *schemas = json_object_get(json_object_get(root, "components"), "schemas");
    const json_t *schema = json_object_get(schemas, message->short_name);
    const json_t *fields = json_object_get(schema, "properties");
    cr_expect_eq(json_object_size(fields), message->n_fields, "%s", message->short_name);
    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        cr_expect_not_null(json_object_get(fields, field->name), "%s", field->name);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            expect_schema(root, field->descriptor);
        }
    }
}

Test(api, documents_are_those_of_the_routes)
{
    static const char *const methods[] = {"get", "post", "delete"};
    cm_page *page = cm_page_create(), *types = cm_page_create();
    cm_api_openapi(page);
    cm_api_typescript(types);
    json_t *root = json_loadb(page->text, page->size, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(root);
    for (size_t i = 0; i < cm_api_route_count; i++) {
        const cm_api_route *r = &cm_api_routes[i];
        char path[128], row[192];
        snprintf(path, sizeof path, "/%s", r->path);
        const json_t *operation = json_object_get(
            json_object_get(json_object_get(root, "paths"), path), methods[r->method]);
        cr_expect_not_null(operation, "%s", path);
        cr_expect_str_eq(json_string_value(json_object_get(operation, "x-scope")),
                         cm_api_scope_name(r->scope));
        cr_expect_eq(json_object_get(operation, "requestBody") != NULL, r->body != NULL);
        snprintf(row, sizeof row, "\"%s /api/v1%s\": {", methods[r->method], path);
        cr_expect_not_null(strstr(types->text, row), "%s", row);
        if (r->body != NULL) {
            expect_schema(root, r->body);
        }
        if (r->answer != NULL) {
            expect_schema(root, r->answer);
        }
    }
    cr_expect_not_null(
        strstr(types->text, "export interface RoomList {\n  rooms: Room[];\n  next?: string;\n}"));
    json_decref(root);
    cm_page_drop(page);
    cm_page_drop(types);
}

// Goal: a room's numbers have a field each, so that no key of CM_ROOM_KEYS is forgotten.
Test(api, numbers_of_rooms_are_those_of_the_configuration)
{
    const ProtobufCMessageDescriptor *message = MESSAGE(room_numbers);
    static const char *const names[] = {
#define NAME(key, low, high, without) #key,
        CM_ROOM_KEYS(NAME)};
    cr_assert_eq(message->n_fields, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < message->n_fields; i++) {
        cr_expect_str_eq(message->fields[i].name, names[i]);
    }
}

Test(api, keys_of_a_file)
{
    static const char *const bad[] = {"a read 00", "a read", "a all 0", "a read,read x",
                                      "é read x",  "a  x",   "a , x"};
    char path[] = "/tmp/carom-keys-XXXXXX", error[256], key[CM_API_KEY_TEXT_MAX];
    static cm_api_keys keys;
    cr_assert(cm_crypto_init());
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_eq(ftruncate(file, 0), 0);
        cr_assert_gt(pwrite(file, bad[i], strlen(bad[i]), 0), 0);
        cr_expect_eq(cm_api_keys_read(path, &keys, error, sizeof error), CAROM_ERROR_CORRUPT, "%s",
                     bad[i]);
    }
    cr_assert_eq(ftruncate(file, 0), 0);
    cr_expect_eq(cm_api_keys_add(path, "a b", "read", key, error, sizeof error),
                 CAROM_ERROR_ARGUMENT);
    cr_expect_eq(cm_api_keys_add(path, "a", "", key, error, sizeof error), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_api_keys_add(path, "a", "read,server", key, error, sizeof error), CAROM_OK);
    cr_expect_eq(cm_api_keys_add(path, "a", "read", key, error, sizeof error),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_api_keys_read(path, &keys, error, sizeof error), CAROM_OK);
    cr_assert_eq(keys.count, 1);
    cr_assert_eq(cm_api_keys_add(path, "b", "rooms", key, error, sizeof error), CAROM_OK);
    cr_assert_eq(cm_api_keys_read(path, &keys, error, sizeof error), CAROM_OK);
    cr_assert_eq(keys.count, 2);
    const cm_api_key *found = cm_api_keys_find(&keys, key);
    cr_assert_not_null(found);
    cr_expect_str_eq(found->name, "b");
    cr_expect_eq(found->scopes, 1u << CM_API_ROOMS);
    key[strlen(key) - 1] = '\0';
    cr_expect_null(cm_api_keys_find(&keys, key));
    cr_expect_null(cm_api_keys_find(&keys, ""));
    close(file);
    unlink(path);
}
