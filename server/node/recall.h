// What the door of `carom serve` must know after a restart, between the worker and the file that
// keeps it.
#ifndef CM_SERVER_NODE_RECALL_H
#define CM_SERVER_NODE_RECALL_H

#include "server/node/worker.h"
#include "server/auth/gate_db.h"
#include "server/auth/ban_lists.h"

void cm_serve_keep_used(cm_door_db *db, const cm_used_token *token);
void cm_serve_keep_ban(cm_door_db *db, bool by_address, uint64_t who, bool banned);
// Gives the worker what was kept, and the list its bans.
carom_result cm_serve_recall(cm_door_db *db, cm_worker *worker, cm_serve_bans *bans,
                             cm_failure *failure);

#endif
