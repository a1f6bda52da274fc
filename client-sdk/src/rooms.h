// The list of the server's rooms, which comes in parts: kept until the last one is there.
#ifndef CM_CLIENT_ROOMS_H
#define CM_CLIENT_ROOMS_H

#include "carom/client.h"

#include "shared/wire/control.h"

typedef struct cm_client_rooms {
    struct cm_client_room *list; // NULL: nothing came, or all was handed over
    uint32_t count, total;
} cm_client_rooms; // zeroed: none

// A part that is not the next one is passed over; the first begins anew. True once all are there.
bool cm_client_rooms_read(cm_client_rooms *rooms, const carom_allocator *allocator,
                          const cm_control *control);
// Up to CAROM_CLIENT_ROOMS_MAX; returns how many. Texts live until clear.
uint32_t cm_client_rooms_rows(const cm_client_rooms *rooms,
                              carom_client_room_row rows[CAROM_CLIENT_ROOMS_MAX]);
void cm_client_rooms_clear(cm_client_rooms *rooms, const carom_allocator *allocator);

#endif
