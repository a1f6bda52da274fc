// The writer of a match file, as its two files share it: match_writer.c (opening, commits, ending)
// and match_writer_rows.c (what a tick puts).
#ifndef CM_SERVER_RECORD_STORE_MATCH_WRITER_INNER_H
#define CM_SERVER_RECORD_STORE_MATCH_WRITER_INNER_H

#include "server/record/format/chain.h"
#include "server/record/format/column.h"
#include "server/record/store/match_writer.h"

typedef struct sqlite3 sqlite3; // as sqlite3.h has them
typedef struct sqlite3_stmt sqlite3_stmt;

// Every statement of a running match.
#define STATEMENTS(X)                                                                              \
    X(tick, "INSERT INTO ticks(tick, hash) VALUES(?1, ?2)")                                        \
    X(event, "INSERT INTO events(tick, number, type, player, client_id, payload) "                 \
             "VALUES(?1, ?2, ?3, ?4, ?5, ?6)")                                                     \
    X(inputs, "INSERT INTO inputs(tick, changed, arrived) VALUES(?1, ?2, ?3)")                     \
    X(unpacked, "DELETE FROM inputs WHERE tick <= ?1")                                             \
    X(pack, "INSERT INTO packs(tick, first, packed) VALUES(?1, ?2, ?3)")                           \
    X(personal, "INSERT INTO personal(number, tick, client_id, kind, commitment, salt, value) "    \
                "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                              \
    X(statistics, "INSERT INTO statistics(tick, player, inputs, late, rewound_ticks, refused) "    \
                  "VALUES(?1, ?2, ?3, ?4, ?5, ?6)")                                                \
    X(keyframe, "INSERT INTO keyframes(tick, base, packed) VALUES(?1, ?2, ?3)")                    \
    X(link, "INSERT INTO links(tick, chain, signature) VALUES(?1, ?2, ?3)")                        \
    X(last, "INSERT OR REPLACE INTO last(id, tick, how, chain, signature) "                        \
            "VALUES(0, ?1, ?2, ?3, ?4)")                                                           \
    X(page_count, "PRAGMA page_count")

enum {
#define STATEMENT_NUMBER(name, text) PUT_##name,
    STATEMENTS(STATEMENT_NUMBER)
#undef STATEMENT_NUMBER
        STATEMENT_COUNT
};

struct cm_match_writer {
    sqlite3 *db;
    sqlite3_stmt *put[STATEMENT_COUNT];
    cm_chain chain;
    uint64_t tick;          // written last
    uint64_t personal_rows; // their next number
    bool resumes;           // with the next tick
    bool is_past_tick;      // a row of the next tick is written: this one takes no more
    uint64_t statistics_tick;
    uint32_t statistics_players; // of that tick, those below have their row
    bool has_secret;
    uint8_t secret[CM_KEY_BYTES];
    cm_record_pack *pack; // what `inputs` holds
    uint8_t *base;        // the newest keyframe, for the next one
    size_t base_size;
    uint64_t base_tick;
    uint64_t keyframe_bytes; // of all of them, unpacked
    uint32_t keyframes;
    int log_pages; // of the log, after the last commit
    bool in_transaction;
    bool failed;
    char error[160];
};

// All are false once the writer has failed, and keep the first reason.
bool cm_match_writer_fail(cm_match_writer *writer, const char *doing); // with SQLite's message
bool cm_match_writer_refuse(cm_match_writer *writer, const char *why);
bool cm_match_writer_fail_memory(cm_match_writer *writer);
bool cm_match_writer_run(cm_match_writer *writer, const char *sql);
// Runs a statement that returns no row.
bool cm_match_writer_put(cm_match_writer *writer, sqlite3_stmt *statement,
                         const cm_sql_value *values, size_t count, const char *doing);
// A transaction, where there is none.
bool cm_match_writer_begin(cm_match_writer *writer);

// The inputs since the last pack.
bool cm_match_writer_put_pack(cm_match_writer *writer);
// Writes the row `last`: the last tick, and the match's end once it has ended (`how` or NULL).
bool cm_match_writer_put_last(cm_match_writer *writer, const char *how);

#endif
