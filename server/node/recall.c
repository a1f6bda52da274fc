// Rows of gate_db.h into calls of worker.h, and back.
#include "server/node/recall.h"

#include <string.h>

_Static_assert(CM_DOOR_DB_ID == CM_TOKEN_NONCE_BYTES, "the id that is kept is a token's");

void cm_serve_keep_used(cm_door_db *db, const cm_used_token *token)
{
    cm_door_row row = {.kind = CM_DOOR_ROW_USED, .number = token->expires_unix_s};
    memcpy(row.id, token->id, sizeof row.id);
    cm_door_db_keep(db, &row);
}

void cm_serve_keep_ban(cm_door_db *db, bool by_address, uint64_t who, bool banned)
{
    cm_door_row row = {.kind = by_address ? CM_DOOR_ROW_ADDRESS : CM_DOOR_ROW_CLIENT,
                       .gone = !banned,
                       .number = who};
    cm_door_db_keep(db, &row);
}

typedef struct recalled {
    cm_worker *worker;
    cm_serve_bans *bans;
    bool whole;
} recalled;

static void take(void *context, const cm_door_row *row)
{
    recalled *r = context;
    if (row->kind == CM_DOOR_ROW_USED) {
        cm_used_token token = {.expires_unix_s = row->number};
        memcpy(token.id, row->id, sizeof token.id);
        r->whole = cm_worker_recall_used(r->worker, &token) && r->whole;
    } else {
        bool by_address = row->kind == CM_DOOR_ROW_ADDRESS;
        r->whole = cm_worker_recall_ban(r->worker, by_address, row->number) &&
                   cm_serve_bans_keep(r->bans, by_address, row->number, true) && r->whole;
    }
}

carom_result cm_serve_recall(cm_door_db *db, cm_worker *worker, cm_serve_bans *bans,
                             cm_failure *failure)
{
    recalled r = {worker, bans, true};
    carom_result result = cm_door_db_read(db, take, &r);
    if (result != CAROM_OK || !r.whole) {
        return cm_fail(failure, CAROM_ERROR_IO, "serve: matches: door.db: %s",
                       result != CAROM_OK ? carom_result_text(result) : "more rows than are kept");
    }
    return CAROM_OK;
}
