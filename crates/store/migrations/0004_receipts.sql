-- Receipts of contexts, and how often a record was told.

-- The newest so many of a project: the next one takes the place of the oldest.
CREATE TABLE receipts (
  project INTEGER NOT NULL REFERENCES projects (id),
  slot    INTEGER NOT NULL,
  number  INTEGER NOT NULL,      -- counts the receipts of the project
  id      BLOB    NOT NULL,
  at      INTEGER NOT NULL,
  session TEXT,
  body    TEXT    NOT NULL,      -- a JSON object
  PRIMARY KEY (project, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE inclusions (
  project   INTEGER NOT NULL,
  record    BLOB    NOT NULL,
  at        INTEGER NOT NULL,
  receipt   BLOB    NOT NULL,
  session   TEXT,
  iteration INTEGER,
  PRIMARY KEY (project, record, at, receipt),
  FOREIGN KEY (project, record) REFERENCES records (project, id)
) STRICT, WITHOUT ROWID;

-- What a team shares is few among many, and asked for at each context.
CREATE INDEX current_of_team ON records (project, id)
  WHERE retired_at IS NULL AND source = 'team';
