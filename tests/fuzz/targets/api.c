// A request of /api/v1: a path and a body of any bytes. What passes is a request of the command
// table that says one command, the route's, by the key that asked.
#include <stdlib.h>
#include <string.h>

#include "server/supervisor/api_routes.h"
#include "shared/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = CM_HTTP_API;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t path_size = end != NULL ? (size_t)(end - data) : size;
    size_t body_size = end != NULL ? size - path_size - 1 : 0;
    if (path_size < 1 || path_size > CM_HTTP_TARGET_MAX - sizeof head ||
        body_size > CM_HTTP_BODY_MAX) {
        return 0;
    }
    char path[CM_HTTP_TARGET_MAX + 1] = CM_HTTP_API, line[CM_ADMIN_REQUEST_MAX], wrong[256];
    char *body = malloc(body_size + 1); // exactly as large: a byte behind it is a fault
    CM_ASSERT(body != NULL);
    memcpy(path + sizeof head - 1, data + 1, path_size - 1);
    memcpy(body, data + size - body_size, body_size);
    body[body_size] = '\0';
    const cm_api_route *route;
    cm_api_places places;
    cm_scene_error error;
    uint32_t methods = cm_api_find(path, (cm_http_method)(data[0] % 3), &route, &places);
    CM_ASSERT(methods != 0 || route == NULL);
    CM_ASSERT(strlen(cm_api_allow(methods)) > 0);
    bool does = route != NULL && route->source == CM_API_FROM_COMMAND;
    if (does && (route->body == NULL || (strlen(body) == body_size &&
                                         cm_api_check_body(route, body, body_size, &error)))) {
        cm_admin_request asked;
        bool fits = cm_api_request(route, &places, "key", route->body != NULL ? body : NULL, line);
        if (fits && cm_admin_request_read(line, &asked, wrong)) {
            CM_ASSERT(asked.command == route->command);
            CM_ASSERT(strcmp(asked.by, "key") == 0);
            CM_ASSERT(places.room[0] == '\0' || strcmp(asked.room, places.room) == 0);
        }
    }
    free(body);
    return 0;
}
