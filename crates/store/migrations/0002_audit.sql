-- Who changed what, and imports as one.

CREATE TABLE batches (
  project   INTEGER NOT NULL REFERENCES projects (id),
  id        BLOB    NOT NULL,
  source    TEXT    NOT NULL,   -- the format and the file's name
  by        TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  undone_at INTEGER,
  PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;

ALTER TABLE records ADD COLUMN batch BLOB;
ALTER TABLE sessions ADD COLUMN batch BLOB;
ALTER TABLE sessions ADD COLUMN retired_at INTEGER;
ALTER TABLE messages ADD COLUMN batch BLOB;
ALTER TABLE messages ADD COLUMN retired_at INTEGER;

CREATE INDEX records_by_batch ON records (project, batch, id) WHERE batch IS NOT NULL;
CREATE INDEX sessions_by_batch ON sessions (project, batch, id) WHERE batch IS NOT NULL;
CREATE INDEX messages_by_batch ON messages (project, batch) WHERE batch IS NOT NULL;

-- What happened beside the writing of records, which say themselves when, by whom and instead of what.
CREATE TABLE events (
  project INTEGER NOT NULL REFERENCES projects (id),
  at      INTEGER NOT NULL,
  action  TEXT    NOT NULL,
  by      TEXT    NOT NULL,
  record  BLOB,
  other   BLOB,
  batch   BLOB,
  detail  TEXT
) STRICT;

CREATE INDEX events_by_time ON events (project, at);
CREATE INDEX events_by_record ON events (project, record, at) WHERE record IS NOT NULL;
