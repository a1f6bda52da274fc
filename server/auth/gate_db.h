// The gate's database, which it needs after a restart: used tokens that have not expired, and bans.
// A small SQLite file, MATCHES/gate.db, written by a thread of its own, so that the gate never
// waits for a disk. One connection, exclusive, WAL. Rows survive a killed process once they are
// written; writing begins at once. Typical: a row a minute.
#ifndef CM_SERVER_AUTH_GATE_DB_H
#define CM_SERVER_AUTH_GATE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carom/types.h"

#include "server/auth/ban_terms.h"
#include "server/auth/used_tokens.h"

#define CM_GATE_DB_ID    24u    // bytes of a token's id
#define CM_GATE_DB_ROWS  65536u // of a kind that are read; no server writes more
#define CM_GATE_DB_QUEUE 65536u // rows waiting for the disk; above it the file counts as failed

typedef enum cm_gate_row_kind {
    CM_GATE_ROW_USED = 1,
    CM_GATE_ROW_CLIENT = 2,  // banned, by client id
    CM_GATE_ROW_ADDRESS = 3, // banned, by cm_address_network
    CM_GATE_ROW_TERM = 4,    // of a client's ban: until when, and why
    CM_GATE_ROW_ADDRESS_TERM = 5,
} cm_gate_row_kind;

typedef struct cm_gate_row {
    cm_gate_row_kind kind;
    bool gone;                 // a ban that is lifted
    uint8_t id[CM_GATE_DB_ID]; // of a used token
    uint64_t number;           // when it expires, seconds of 1970; or the client id or address
    uint64_t until_unix_s;     // of a term; 0: for ever
    char reason[CM_BAN_REASON_MAX + 1];
} cm_gate_row;

typedef struct cm_gate_db cm_gate_db;

// Opens or makes the file; what has expired goes. `error` names the file: another server has it, it
// is of another kind, or cannot be written.
carom_result cm_gate_db_open(const char *directory, uint64_t now_unix_s, cm_gate_db **db,
                             char *error, size_t error_size);
// Every row, to a function. Before the first cm_gate_db_keep.
carom_result cm_gate_db_read(cm_gate_db *db, void (*take)(void *context, const cm_gate_row *row),
                             void *context);
void cm_gate_db_keep(cm_gate_db *db, const cm_gate_row *row);
// A used token, and a ban, as rows.
void cm_gate_db_keep_used(cm_gate_db *db, const cm_used_token *token);
void cm_gate_db_keep_ban(cm_gate_db *db, bool by_address, uint64_t who, bool banned);
// With `gone` it goes together with its ban.
void cm_gate_db_keep_term(cm_gate_db *db, const cm_ban_term *term, bool gone);
// False after something could not be written; then its text. Nothing is written any more.
bool cm_gate_db_is_valid(cm_gate_db *db, char *error, size_t error_size);
// Writes what waits. NULL is allowed.
void cm_gate_db_close(cm_gate_db *db);

#endif
