-- Versions: another scene imported under a known name is its next version, and the older ones stay.
-- imported_at: seconds since 1970.
ALTER TABLE scenes RENAME TO scenes_of_1;
CREATE TABLE scenes(name TEXT NOT NULL, version INTEGER NOT NULL, format INTEGER NOT NULL, packed BLOB NOT NULL,
    bodies INTEGER NOT NULL, imported_at INTEGER NOT NULL, PRIMARY KEY(name, version));
INSERT INTO scenes SELECT name, 1, format, packed, bodies, imported_at FROM scenes_of_1;
DROP TABLE scenes_of_1;
