// The two lists of bans: those of operators (`carom admin ban`, kept in gate.db), and those of the
// file that the configuration names. A client or address on either list is refused.
#ifndef CM_SERVER_AUTH_BAN_LISTS_H
#define CM_SERVER_AUTH_BAN_LISTS_H

#include "server/auth/ban_file.h"
#include "server/config/config.h"
#include "server/ops/failure.h"
#include "server/ops/log.h"

typedef struct cm_ban_lists {
    cm_ban_list kept, listed;
} cm_ban_lists; // zeroed: none

// Somebody is kept out from now on, or no more.
typedef bool cm_ban_lists_on_change(void *user, bool by_address, uint64_t who, bool banned);

// The file, if there is one.
carom_result cm_ban_lists_open(cm_ban_lists *bans, const cm_config *config, cm_failure *failure);
void cm_ban_lists_close(cm_ban_lists *bans);
// Of an operator's.
bool cm_ban_lists_keep(cm_ban_lists *bans, bool by_address, uint64_t who, bool banned);
// Every one of the file, to a function; false where one of the calls is.
bool cm_ban_lists_each(const cm_ban_lists *bans, cm_ban_lists_on_change *tell, void *user);
// On SIGHUP: what is new and what is gone, to a function, and the log. A file that is wrong changes
// nothing.
void cm_ban_lists_reload(cm_ban_lists *bans, const cm_config *config, const cm_log *log,
                         cm_ban_lists_on_change *tell, void *user);
// The reason why an operator cannot lift the ban, or NULL.
const char *cm_ban_lists_held(const cm_ban_lists *bans, bool by_address, uint64_t who);

#endif
