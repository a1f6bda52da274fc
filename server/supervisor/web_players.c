// Those who play by WebSocket: the request is judged here, and its socket goes to the worker of the
// room, with what comes after the request unread in it. No byte of play passes this process.
#include <string.h>

#include "server/supervisor/supervisor.h"
#include "shared/transport/socket_address.h"

// Of a name that no room has: where rooms open on demand always the same worker, so that those who
// ask at once meet there.
static uint32_t choose_worker(const cm_server *s, const char *name)
{
    uint32_t sum = 0;
    for (const char *at = name; *at != '\0'; at++) {
        sum = 31 * sum + (uint8_t)*at;
    }
    return sum % s->count;
}

// False: there is no such room, and will be none.
static bool find_worker(const cm_server *s, const char *name, uint32_t *worker)
{
    const cm_directory_entry *entry = name[0] != '\0' ? cm_room_directory_find(&s->directory, name)
                                                      : cm_room_directory_default(&s->directory);
    if (entry != NULL) {
        *worker = entry->worker;
        return true;
    }
    *worker = choose_worker(s, name);
    return name[0] != '\0' && s->base->rooms.on_demand != NULL;
}

// The host whose pages need no list. On loopback a foreign name is a page elsewhere whose name was
// made to point here, or a proxy, whose origins are listed.
static const char *own_host(const cm_http_request *request, int descriptor)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    cm_address here;
    bool known = getsockname(descriptor, (struct sockaddr *)&at, &size) == 0 &&
                 cm_socket_address_read(&at, &here);
    bool foreign = !known || (cm_address_is_loopback(here.ip) && !request->by_own_name);
    return foreign ? "" : request->host;
}

cm_http_refusal cm_server_upgrade(void *user, const cm_http_request *request, int descriptor)
{
    cm_server *s = user;
    cm_worker_message message = {.type = CM_WORKER_RECEIVES_SOCKET};
    char room[CAROM_ROOM_NAME_MAX + 1];
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    uint32_t worker;
    if (!cm_upgrade_room(request->path, room, sizeof room) || !find_worker(s, room, &worker)) {
        return CM_HTTP_PATH;
    }
    if (!request->is_version13 || !cm_upgrade_offers(request->offer)) {
        return CM_HTTP_OFFER;
    }
    if (request->is_head || !cm_upgrade_accept(request->key, message.socket.accept)) {
        return CM_HTTP_UPGRADE;
    }
    if (!cm_upgrade_is_allowed(request->origin, own_host(request, descriptor),
                               s->base->config.web_origin)) {
        return CM_HTTP_ORIGIN;
    }
    if (!s->ready || s->draining || !s->workers[worker].ready) {
        return CM_HTTP_AWAY;
    }
    if (getpeername(descriptor, (struct sockaddr *)&at, &size) != 0 ||
        !cm_socket_address_read(&at, &message.socket.from)) {
        return CM_HTTP_UPGRADE;
    }
    cm_worker_link_give(cm_supervisor_link(s->supervisor, worker), &message, descriptor);
    return CM_HTTP_GOOD;
}
