// Parts of the lists that workers told, for the API: lines `{"room":"NAME",…}` of a page. Rooms
// come in the order of their names, whichever worker answered first, so that ?after= goes on where
// a part ended.
#ifndef CM_SERVER_SUPERVISOR_API_LISTS_H
#define CM_SERVER_SUPERVISOR_API_LISTS_H

#include "carom/limits.h"
#include "server/ops/page.h"
#include "server/supervisor/api.h"

typedef struct cm_api_part {
    uint32_t limit;                      // at most CM_API_LIST_MAX
    char after[CAROM_ROOM_NAME_MAX + 1]; // names behind this one; "": all
} cm_api_part;

bool cm_api_list_has(const cm_page *list, const char *room);
// {"rooms":[…],"next":"…"}
void cm_api_list_write(const cm_page *list, const cm_api_part *part, cm_page *page);
// {"key":[…]} of the lines of a room; NULL: its first line alone.
void cm_api_list_write_of(const cm_page *list, const char *room, const char *key, cm_page *page);

#endif
