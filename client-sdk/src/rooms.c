// Typical: asked for once, in a lobby; one part of some ten rows.
#include "client-sdk/src/rooms.h"

#include <string.h>

#include "shared/base/memory.h"

typedef struct cm_client_room {
    char name[CAROM_ROOM_NAME_MAX + 1], module[CAROM_MODULE_NAME_MAX + 1];
    char scene[CM_CONTROL_SCENE_NAME_MAX + 1];
    uint32_t players, max_players;
    uint16_t port;
} cm_client_room;

static void begin(cm_client_rooms *rooms, const carom_allocator *allocator, uint32_t total)
{
    cm_client_rooms_clear(rooms, allocator);
    rooms->total = total < CAROM_CLIENT_ROOMS_MAX ? total : CAROM_CLIENT_ROOMS_MAX;
    rooms->list = cm_memory_take(allocator, rooms->total * sizeof *rooms->list);
}

bool cm_client_rooms_read(cm_client_rooms *rooms, const carom_allocator *allocator,
                          const cm_control *control)
{
    if (control->first == 0) {
        begin(rooms, allocator, control->total);
    }
    if (rooms->list == NULL || control->first != rooms->count) {
        return false;
    }
    for (uint32_t i = 0; i < control->room_count && rooms->count < rooms->total; i++) {
        const cm_control_room *from = &control->rooms[i];
        cm_client_room *room = &rooms->list[rooms->count++];
        *room = (cm_client_room){
            .players = from->players, .max_players = from->max_players, .port = from->port};
        memcpy(room->name, from->name, strlen(from->name)); // checked when it was decoded
        memcpy(room->scene, from->scene, strlen(from->scene));
        memcpy(room->module, from->module, strlen(from->module));
    }
    return rooms->count == rooms->total;
}

uint32_t cm_client_rooms_rows(const cm_client_rooms *rooms,
                              carom_client_room_row rows[CAROM_CLIENT_ROOMS_MAX])
{
    for (uint32_t i = 0; i < rooms->count; i++) {
        const cm_client_room *room = &rooms->list[i];
        rows[i] = (carom_client_room_row){.name = room->name,
                                          .scene = room->scene,
                                          .module = room->module,
                                          .players = room->players,
                                          .max_players = room->max_players,
                                          .port = room->port};
    }
    return rooms->count;
}

void cm_client_rooms_clear(cm_client_rooms *rooms, const carom_allocator *allocator)
{
    cm_memory_give(allocator, rooms->list);
    memset(rooms, 0, sizeof *rooms);
}
