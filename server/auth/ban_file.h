// A list of bans in a text file: a client id or an address a line; '#' begins a comment. An IPv6
// address bans its /64. Typical: some dozens, read at the start and on SIGHUP.
#ifndef CM_SERVER_AUTH_BAN_FILE_H
#define CM_SERVER_AUTH_BAN_FILE_H

#include <stddef.h>

#include "server/auth/bans.h"

typedef struct cm_ban_list {
    cm_bans of[2]; // client ids, then addresses by cm_address_network
} cm_ban_list;     // zeroed: empty

// False, with `error` as FILE:LINE: …; the list is empty then.
bool cm_ban_file_read(const char *path, cm_ban_list *list, char *error, size_t error_size);
void cm_ban_list_free(cm_ban_list *list);

#endif
