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

-- What one context told stands together: a few pages are written, not one for each record. An empty receipt stands
-- for all that are gone: `iteration` is how many, `at` the newest. Rows go with their records by the one deletion there
-- is; a key to records would be looked for from end to end at each of them.
ALTER TABLE inclusions RENAME TO old_inclusions;
CREATE TABLE inclusions (
  project   INTEGER NOT NULL,
  receipt   BLOB    NOT NULL,
  record    BLOB    NOT NULL,
  at        INTEGER NOT NULL,
  session   TEXT,
  iteration INTEGER,
  PRIMARY KEY (project, receipt, record)
) STRICT, WITHOUT ROWID;
INSERT INTO inclusions (project, receipt, record, at, session, iteration)
  SELECT project, receipt, record, max(at), session, iteration FROM old_inclusions
  GROUP BY project, receipt, record;
DROP TABLE old_inclusions;
