// The paths of /api/v1: one table for who answers, what is allowed, and the documents that are made
// of it (api_document.h). Bodies and answers are messages of proto/api.proto.
#ifndef CM_SERVER_SUPERVISOR_API_ROUTES_H
#define CM_SERVER_SUPERVISOR_API_ROUTES_H

#include "server/auth/api_keys.h"
#include "server/node/admin_table.h"
#include "server/ops/http_head.h"
#include "shared/scene/map_json.h"

typedef enum cm_api_source {
    CM_API_FROM_COMMAND, // the command table, and who answers it
    CM_API_FROM_SERVER,
    CM_API_FROM_ROOMS,
    CM_API_FROM_ROOM,
    CM_API_FROM_PLAYERS,
    CM_API_FROM_DOCUMENT, // OpenAPI
} cm_api_source;

typedef struct cm_api_route {
    cm_http_method method; // GET: HEAD too
    const char *path;      // below CM_HTTP_API, with {room} and {who}
    cm_api_scope scope;    // that a key needs; what is READ is open to all, but for names
    cm_api_source source;
    cm_admin_command command;                        // of FROM_COMMAND
    uint32_t status;                                 // where it is done
    bool pages;                                      // has ?after= and ?limit=
    const ProtobufCMessageDescriptor *body, *answer; // NULL: none of ours
    const char *summary;
} cm_api_route;

extern const cm_api_route cm_api_routes[];
extern const size_t cm_api_route_count;

typedef struct cm_api_places {
    char room[CAROM_ROOM_NAME_MAX + 1], who[24]; // "": the path has none
} cm_api_places;

// Methods of the path, a bit each by cm_http_method; 0: there is no such path. `route`: that of
// `method`, NULL: none.
uint32_t cm_api_find(const char *path, cm_http_method method, const cm_api_route **route,
                     cm_api_places *places);
// "GET, HEAD, OPTIONS" of such bits; a text that stays.
const char *cm_api_allow(uint32_t methods);

// A part of a path or query without its %XX. False: it does not fit, or is no such text.
bool cm_api_decode(const char *text, size_t size, char *to, size_t capacity);
// The value of a name in a query; false: it has none, or one that is none.
bool cm_api_query(const char *query, const char *name, char *value, size_t capacity);

// The body's check against its message: false, and what is wrong.
bool cm_api_check_body(const cm_api_route *route, const char *body, size_t size,
                       cm_scene_error *error);
// The line of a command's request: what the path and the body say. False: it is too long.
bool cm_api_request(const cm_api_route *route, const cm_api_places *places, const char *by,
                    const char *body, char line[CM_ADMIN_REQUEST_MAX]);

#endif
