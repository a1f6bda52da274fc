// The match file's format, shared by its writer and its reader: an SQLite database with
// application_id and user_version as below and exactly these tables and views; anything else in the
// schema is refused. MATCH_FILE.md explains every column, the order of the chain and the contents
// of a signature; a test compares the two.
#ifndef CM_SERVER_RECORD_FORMAT_MATCH_FORMAT_H
#define CM_SERVER_RECORD_FORMAT_MATCH_FORMAT_H

#define CM_MATCH_APPLICATION_ID 0x43524d4d // "CRMM"
#define CM_MATCH_FORMAT         2

// Kind, name and text of each, as sqlite_schema holds them. The views are for people: the reader
// never runs one.
#define CM_MATCH_SCHEMA(X)                                                                         \
    X(table, meta, "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID")                 \
    X(table, scene, "CREATE TABLE scene(id INTEGER PRIMARY KEY, packed BLOB)")                     \
    X(table, ticks, "CREATE TABLE ticks(tick INTEGER PRIMARY KEY, hash INTEGER)")                  \
    X(table, events,                                                                               \
      "CREATE TABLE events(tick INTEGER, number INTEGER, type TEXT, player INTEGER, client_id "    \
      "TEXT, payload BLOB, PRIMARY KEY(tick, number)) WITHOUT ROWID")                              \
    X(table, inputs, "CREATE TABLE inputs(tick INTEGER PRIMARY KEY, changed BLOB, arrived BLOB)")  \
    X(table, packs, "CREATE TABLE packs(tick INTEGER PRIMARY KEY, first INTEGER, packed BLOB)")    \
    X(table, personal,                                                                             \
      "CREATE TABLE personal(number INTEGER PRIMARY KEY, tick INTEGER, client_id TEXT, kind "      \
      "TEXT, commitment BLOB, salt BLOB, value TEXT)")                                             \
    X(table, statistics,                                                                           \
      "CREATE TABLE statistics(tick INTEGER, player INTEGER, inputs INTEGER, late INTEGER, "       \
      "rewound_ticks INTEGER, refused INTEGER, PRIMARY KEY(tick, player)) WITHOUT ROWID")          \
    X(table, keyframes,                                                                            \
      "CREATE TABLE keyframes(tick INTEGER PRIMARY KEY, base INTEGER, packed BLOB)")               \
    X(table, links, "CREATE TABLE links(tick INTEGER PRIMARY KEY, chain BLOB, signature BLOB)")    \
    X(table, last,                                                                                 \
      "CREATE TABLE last(id INTEGER PRIMARY KEY, tick INTEGER, how TEXT, chain BLOB, signature "   \
      "BLOB)")                                                                                     \
    X(view, hashes, "CREATE VIEW hashes AS SELECT tick, printf('%016x', hash) AS hash FROM ticks") \
    X(view, players,                                                                               \
      "CREATE VIEW players AS SELECT j.player, j.client_id, (SELECT value FROM personal p WHERE "  \
      "p.client_id = j.client_id AND p.kind = 'name') AS name, j.tick AS joined, (SELECT "         \
      "min(l.tick) FROM events l WHERE l.type = 'leave' AND l.player = j.player AND l.tick > "     \
      "j.tick) AS \"left\" FROM events j WHERE j.type = 'join'")

#endif
