-- The identity of each project without an explicit name: where its folder is, seen from the folder that holds the store.
-- Nothing in it changes when that folder is renamed, moved or mounted elsewhere.
CREATE TABLE locations (
  location    TEXT    NOT NULL PRIMARY KEY, -- `.`, or the name of a bare repository next to the store
  name        TEXT    NOT NULL,             -- the project's name
  home        TEXT    NOT NULL,             -- the absolute path of the project's folder when it was last opened
  store       BLOB    NOT NULL,             -- 16 random bytes: two stores with the same ones are copies
  copied_from TEXT,                         -- the folder of the other copy, until a person decided what this one is
  question_shown INTEGER NOT NULL DEFAULT 0 -- 1 once a person was asked
) STRICT, WITHOUT ROWID;
