-- Rooms to start: what serve opens where no scene is named.
CREATE TABLE rooms(name TEXT PRIMARY KEY, scene TEXT NOT NULL) WITHOUT ROWID;
-- The index of matches. file: its name, directory: where its server put it. What follows started_unix_ms is NULL until
-- the match ended. chain: the last value of its hash chain, which stands for all that was recorded and stays when
-- names are erased or the file is copied. file_hash: BLAKE2b-256 of the file's bytes (b2sum -l 256).
CREATE TABLE matches(match_id TEXT PRIMARY KEY, file TEXT NOT NULL, directory TEXT NOT NULL, scene TEXT NOT NULL,
    module TEXT NOT NULL, module_version INTEGER NOT NULL, engine_version INTEGER NOT NULL, tick_rate INTEGER NOT NULL,
    started_unix_ms INTEGER NOT NULL, "end" TEXT, ticks INTEGER, bytes INTEGER, chain TEXT, file_hash TEXT) WITHOUT ROWID;
