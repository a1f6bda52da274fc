// The tables of an exported match, as EXPORT_FILE.md explains them; a test holds the two together.
#ifndef CM_SERVER_RECORD_FORMAT_EXPORT_FORMAT_H
#define CM_SERVER_RECORD_FORMAT_EXPORT_FORMAT_H

#define CM_EXPORT_APPLICATION_ID 0x43524d58 // "CRMX"
#define CM_EXPORT_FORMAT         2

#define CM_EXPORT_SCHEMA(X)                                                                        \
    X("CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID")                             \
    X("CREATE TABLE ticks(tick INTEGER PRIMARY KEY, seconds REAL, hash TEXT)")                     \
    X("CREATE TABLE players(player INTEGER, client_id TEXT, name TEXT, joined INTEGER, \"left\" "  \
      "INTEGER)")                                                                                  \
    X("CREATE TABLE events(tick INTEGER, number INTEGER, type TEXT, player INTEGER, client_id "    \
      "TEXT, payload BLOB, PRIMARY KEY(tick, number)) WITHOUT ROWID")                              \
    X("CREATE TABLE inputs(tick INTEGER, player INTEGER, client_id TEXT, changed INTEGER, "        \
      "arrived REAL, late_ms REAL, rewound INTEGER, bytes BLOB, PRIMARY KEY(tick, player)) "       \
      "WITHOUT ROWID")                                                                             \
    X("CREATE TABLE input_fields(tick INTEGER, player INTEGER, field TEXT, value REAL, PRIMARY "   \
      "KEY(tick, player, field)) WITHOUT ROWID")                                                   \
    X("CREATE TABLE statistics(tick INTEGER, player INTEGER, inputs INTEGER, late INTEGER, "       \
      "rewound_ticks INTEGER, refused INTEGER, PRIMARY KEY(tick, player)) WITHOUT ROWID")          \
    X("CREATE TABLE bodies(body INTEGER PRIMARY KEY, slot INTEGER, generation INTEGER, name "      \
      "TEXT, type TEXT, mass REAL, first_tick INTEGER, last_tick INTEGER)")                        \
    X("CREATE TABLE tracks(tick INTEGER, body INTEGER, px REAL, py REAL, pz REAL, qx REAL, qy "    \
      "REAL, qz REAL, qw REAL, vx REAL, vy REAL, vz REAL, wx REAL, wy REAL, wz REAL, asleep "      \
      "INTEGER, PRIMARY KEY(tick, body)) WITHOUT ROWID")                                           \
    X("CREATE TABLE happenings(tick INTEGER, number INTEGER, type TEXT, body INTEGER, other "      \
      "INTEGER, joint TEXT, px REAL, py REAL, pz REAL, nx REAL, ny REAL, nz REAL, impulse REAL, "  \
      "force REAL, torque REAL, PRIMARY KEY(tick, number)) WITHOUT ROWID")                         \
    X("CREATE TABLE game_events(tick INTEGER, number INTEGER, kind INTEGER, name TEXT, key "       \
      "INTEGER, "                                                                                  \
      "subject INTEGER, subject_2 INTEGER, bytes BLOB, PRIMARY KEY(tick, number)) WITHOUT ROWID")  \
    X("CREATE VIEW named_tracks AS SELECT t.tick, k.seconds, t.body, b.name, px, py, pz, qx, qy, " \
      "qz, qw, vx, vy, vz, wx, wy, wz, asleep FROM tracks t JOIN bodies b ON b.body = t.body "     \
      "JOIN "                                                                                      \
      "ticks k ON k.tick = t.tick")

// Of matches of the sandbox alone.
#define CM_EXPORT_SANDBOX_SCHEMA(X)                                                                \
    X("CREATE VIEW sandbox_inputs AS SELECT i.tick, i.player, i.client_id, i.arrived, i.late_ms, " \
      "i.rewound, x.value AS force_x, z.value AS force_z, h.value AS hold, j.value AS jump FROM "  \
      "inputs i JOIN input_fields x ON x.tick = i.tick AND x.player = i.player AND x.field = "     \
      "'force_x' JOIN input_fields z ON z.tick = i.tick AND z.player = i.player AND z.field = "    \
      "'force_z' JOIN input_fields h ON h.tick = i.tick AND h.player = i.player AND h.field = "    \
      "'hold' JOIN input_fields j ON j.tick = i.tick AND j.player = i.player AND j.field = "       \
      "'jump'")

#endif
