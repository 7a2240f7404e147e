-- Receipts are large: in a table with rowids the newest is found, and an old one replaced, without reading others.
ALTER TABLE receipts RENAME TO old_receipts;
CREATE TABLE receipts (
  project INTEGER NOT NULL REFERENCES projects (id),
  slot    INTEGER NOT NULL,
  number  INTEGER NOT NULL,      -- counts the receipts of the project
  id      BLOB    NOT NULL,
  at      INTEGER NOT NULL,
  session TEXT,
  body    TEXT    NOT NULL,      -- a JSON object
  UNIQUE (project, slot),
  UNIQUE (project, number)
) STRICT;
INSERT INTO receipts (project, slot, number, id, at, session, body)
  SELECT project, slot, number, id, at, session, body FROM old_receipts;
DROP TABLE old_receipts;
