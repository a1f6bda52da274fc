// See api_routes.h. Bytes from outside: paths, queries and bodies. Typical: a request a second.
#include "server/supervisor/api_routes.h"

#include <stdio.h>
#include <string.h>

#include "proto/api.pb-c.h"
#include "shared/scene/scene_json.h"

#define MESSAGE(name) &cm__api__##name##__descriptor
#define READ(path, source, pages, answer, summary)                                                 \
    {                                                                                              \
        CM_HTTP_GET, path, CM_API_READ, CM_API_FROM_##source, CM_ADMIN_COMMAND_COUNT, 200, pages,  \
            NULL, MESSAGE(answer), summary                                                         \
    }
#define DO(method, path, scope, command, status, body, summary)                                    \
    {                                                                                              \
        CM_HTTP_##method, path, CM_API_##scope, CM_API_FROM_COMMAND, CM_ADMIN_##command, status,   \
            false, body, MESSAGE(done), summary                                                    \
    }

const cm_api_route cm_api_routes[] = {
    READ("server", SERVER, false, server, "The server: version, players, whether it takes more"),
    READ("rooms", ROOMS, true, room_list, "The rooms, by name"),
    DO(POST, "rooms", ROOMS, OPEN, 201, MESSAGE(open_room), "Opens a room"),
    READ("rooms/{room}", ROOM, false, room, "One room"),
    DO(DELETE, "rooms/{room}", ROOMS, CLOSE, 200, NULL,
       "Ends the room's match and sends its players away"),
    READ("rooms/{room}/players", PLAYERS, false, player_list, "The players of a room"),
    DO(DELETE, "rooms/{room}/players/{who}", PLAYERS, KICK, 200, NULL,
       "Sends a player away, who may come again"),
    DO(POST, "rooms/{room}/messages", PLAYERS, MESSAGE, 200, MESSAGE(send_message),
       "Shows the room's players, or one, a text"),
    {CM_HTTP_GET, "openapi.json", CM_API_READ, CM_API_FROM_DOCUMENT, CM_ADMIN_COMMAND_COUNT, 200,
     false, NULL, NULL, "This API as OpenAPI 3.1"},
    DO(POST, "drain", SERVER, DRAIN, 202, MESSAGE(drain), "Ends the server, as SIGTERM does"),
};
const size_t cm_api_route_count = sizeof cm_api_routes / sizeof cm_api_routes[0];

static int hex_of(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

bool cm_api_decode(const char *text, size_t size, char *to, size_t capacity)
{
    size_t at = 0;
    for (size_t i = 0; i < size; i++, at++) {
        if (at + 1 >= capacity) {
            return false;
        }
        to[at] = text[i];
        if (text[i] == '%') {
            int high = i + 2 < size ? hex_of(text[i + 1]) : -1;
            int low = i + 2 < size ? hex_of(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            to[at] = (char)(high << 4 | low);
            i += 2;
        }
        if (to[at] <= ' ' || to[at] > '~') { // names are of visible ASCII
            return false;
        }
    }
    to[at] = '\0';
    return at > 0;
}

bool cm_api_query(const char *query, const char *name, char *value, size_t capacity)
{
    size_t length = strlen(name);
    while (*query != '\0') {
        size_t size = strcspn(query, "&");
        if (size > length && memcmp(query, name, length) == 0 && query[length] == '=') {
            return cm_api_decode(query + length + 1, size - length - 1, value, capacity);
        }
        query += size + (query[size] != '\0');
    }
    return false;
}

// Part for part.
static bool matches(const char *pattern, const char *path, cm_api_places *places)
{
    memset(places, 0, sizeof *places);
    for (;;) {
        size_t wanted = strcspn(pattern, "/"), got = strcspn(path, "/");
        bool good = wanted == got && memcmp(pattern, path, got) == 0;
        if (pattern[0] == '{') {
            bool is_room = strncmp(pattern, "{room}", wanted) == 0;
            good = cm_api_decode(path, got, is_room ? places->room : places->who,
                                 is_room ? sizeof places->room : sizeof places->who);
        }
        pattern += wanted;
        path += got;
        if (!good || *pattern != *path || *path == '\0') {
            return good && *pattern == *path;
        }
        pattern++;
        path++;
    }
}

uint32_t cm_api_find(const char *path, cm_http_method method, const cm_api_route **route,
                     cm_api_places *places)
{
    uint32_t methods = 0;
    cm_api_places found;
    *route = NULL;
    for (size_t i = 0; i < cm_api_route_count; i++) {
        const cm_api_route *r = &cm_api_routes[i];
        if (matches(r->path, path + strlen(CM_HTTP_API), &found)) {
            methods |= 1u << r->method;
            *places = r->method == method ? found : *places;
            *route = r->method == method ? r : *route;
        }
    }
    return methods;
}

const char *cm_api_allow(uint32_t methods)
{
    static const char *const texts[] = {"OPTIONS",
                                        "GET, HEAD, OPTIONS",
                                        "POST, OPTIONS",
                                        "GET, HEAD, POST, OPTIONS",
                                        "DELETE, OPTIONS",
                                        "GET, HEAD, DELETE, OPTIONS",
                                        "POST, DELETE, OPTIONS",
                                        "GET, HEAD, POST, DELETE, OPTIONS"};
    return texts[methods & 7u];
}

bool cm_api_check_body(const cm_api_route *route, const char *body, size_t size,
                       cm_scene_error *error)
{
    const cm_json_text text = {body, size, 1};
    cm_pool pool;
    cm_check check;
    memset(error, 0, sizeof *error);
    cm_check_init(&check, error, 1);
    check.find_line = cm_json_find_line;
    check.context = &text;
    cm_pool_init(&pool, NULL);
    bool good =
        cm_json_to_message(&text, route->body, &pool, &check) != NULL && check.result == CAROM_OK;
    cm_pool_release(&pool);
    return good;
}

// `, "key": "text"` of a text that is there.
static size_t put_member(char *line, size_t at, const char *key, const char *text)
{
    if (text[0] != '\0' && at < CM_ADMIN_REQUEST_MAX) {
        at += (size_t)snprintf(line + at, CM_ADMIN_REQUEST_MAX - at, ",\"%s\":", key);
    }
    if (text[0] != '\0' && at < CM_ADMIN_REQUEST_MAX) {
        at += cm_json_quote(text, line + at, CM_ADMIN_REQUEST_MAX - at);
    }
    return at;
}

bool cm_api_request(const cm_api_route *route, const cm_api_places *places, const char *by,
                    const char *body, char line[CM_ADMIN_REQUEST_MAX])
{
    size_t at = (size_t)snprintf(line, CM_ADMIN_REQUEST_MAX, "{\"command\":\"%s\"",
                                 cm_admin_command_name(route->command));
    at = put_member(line, at, "by", by);
    at = put_member(line, at, "room", places->room);
    at = put_member(line, at, "who", places->who);
    // The body is an object with keys of its message, none of which stands above: its members.
    const char *open = body != NULL ? strchr(body, '{') : NULL;
    const char *close = open != NULL ? strrchr(open, '}') : NULL;
    size_t inner = close != NULL ? (size_t)(close - open) - 1 : 0;
    bool empty = inner == 0 || strspn(open + 1, " \t\r\n") >= inner;
    if (at + 2 + (empty ? 0 : inner + 1) > CM_ADMIN_REQUEST_MAX) {
        return false;
    }
    if (!empty) {
        line[at++] = ',';
        memcpy(line + at, open + 1, inner);
        at += inner;
    }
    memcpy(line + at, "}", 2);
    return true;
}
