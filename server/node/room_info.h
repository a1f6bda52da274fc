// The description of a room that others get: clients, operators, monitoring, the supervisor, the
// other nodes. The room has one (cm_hosted_room_info), and it goes over the control link as it is.
#ifndef CM_SERVER_NODE_ROOM_INFO_H
#define CM_SERVER_NODE_ROOM_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "carom/limits.h"
#include "carom/module.h"
#include "shared/scene/scene.h"

typedef struct cm_room_info {
    char name[CAROM_ROOM_NAME_MAX + 1];
    char scene[CM_NAME_MAX]; // its own name
    char module[CAROM_MODULE_NAME_MAX + 1];
    uint32_t players, max_players, spectators, tick_rate;
    uint64_t match_id; // of the file that is recorded now; 0: none is
    uint64_t first_id; // of its first file, which tickets name
    uint16_t port;     // of its node
    bool is_proved;    // its match, by this server, or begun by it
    bool is_default;   // players who name none come here
} cm_room_info;

#endif
