-- Scenes under their names, packed as in proto/scene.proto. Databases made before migrations had
-- numbers are of this shape.
CREATE TABLE IF NOT EXISTS scenes(name TEXT PRIMARY KEY, format INTEGER NOT NULL, packed BLOB NOT NULL,
    bodies INTEGER NOT NULL, imported_at INTEGER NOT NULL);
