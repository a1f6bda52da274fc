// The match file's format, shared by its writer and its reader. SQLite, application_id and
// user_version as below, exactly these tables; anything else in the schema is refused.
//
//   TABLE      COLUMN  TYPE     CONTENT
//   meta       key     text     see below
//              value            integer or text, by key
//   scene      id      integer  0; one row
//              packed  blob     proto/scene.proto, zstd
//   ticks      tick    integer  0, 1, 2, …: none left out. Tick 0 is the scene after start
//              hash    integer  of the state after the tick, 64 bits
//              input   blob     proto/record.proto TickInput; NULL where nothing happened
//   keyframes  tick    integer  ascending
//              packed  blob     encoded game after that tick, zstd
//
//   KEY              VALUE
//   match_id         integer, 64 bits; names the file too
//   engine_version   integer, CAROM_ENGINE_VERSION of the writer
//   engine_text      text, for people, at most 63 printable characters
//   layout_hash      integer, of the table of state fields
//   module           text, at most 31 of a-z, 0-9, _; "" for none
//   module_version   integer
//   seed             integer, 64 bits
//   started_unix_ms  integer
//   tick_rate        integer, 1 to 1000
//   end              integer, cm_match_end; no row while the match runs, or after a kill
//
// 64-bit values are stored as SQLite's signed integers, bit for bit. A tick without input takes
// about 18 bytes, each of 8 players' changed inputs of the sandbox 9 more.
#ifndef CM_SERVER_RECORD_MATCH_FORMAT_H
#define CM_SERVER_RECORD_MATCH_FORMAT_H

#define CM_MATCH_APPLICATION_ID 0x43524d4d // "CRMM"
#define CM_MATCH_FORMAT         1

// Name and text of each table, as sqlite_schema holds them.
#define CM_MATCH_TABLES(X)                                                                         \
    X(meta, "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID")                        \
    X(scene, "CREATE TABLE scene(id INTEGER PRIMARY KEY, packed BLOB)")                            \
    X(ticks, "CREATE TABLE ticks(tick INTEGER PRIMARY KEY, hash INTEGER, input BLOB)")             \
    X(keyframes, "CREATE TABLE keyframes(tick INTEGER PRIMARY KEY, packed BLOB)")

#endif
