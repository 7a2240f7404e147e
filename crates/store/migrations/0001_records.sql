-- Records of every kind, sessions and their messages.
--
-- Times are microseconds since the Unix epoch; ids are the 16 bytes of a UUIDv7. Every key and index of a
-- table that belongs to a project begins with the project.

CREATE TABLE projects (
  id         INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE records (
  project     INTEGER NOT NULL REFERENCES projects (id),
  id          BLOB    NOT NULL,
  kind        TEXT    NOT NULL,
  key         TEXT,             -- identity among the current records of its kind and category
  text        TEXT    NOT NULL,
  attrs       TEXT,             -- JSON object; null = {}
  plan        TEXT,
  "group"     TEXT,
  session     TEXT,
  task        TEXT,
  agent       TEXT,
  phase       TEXT,
  iteration   INTEGER,
  source      TEXT    NOT NULL,
  confidence  REAL    NOT NULL,
  tokens      INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  true_from   INTEGER,
  true_to     INTEGER,
  retired_at  INTEGER,
  replaced_by BLOB,
  expires_at  INTEGER,
  category    TEXT GENERATED ALWAYS AS (json_extract(attrs, '$.category')) VIRTUAL,
  state       TEXT GENERATED ALWAYS AS (json_extract(attrs, '$.state')) VIRTUAL
) STRICT;

CREATE UNIQUE INDEX records_by_id ON records (project, id);

-- One current record for an identity. The key comes before the category, so that a key alone is found too.
CREATE UNIQUE INDEX records_by_identity ON records (project, kind, key, ifnull(category, ''))
  WHERE key IS NOT NULL AND retired_at IS NULL;

-- What contexts ask for: the newest of a kind, of a category, in a state, of a task. The last three leave
-- out what nobody asks for in that way, which is most of a large store: categories belong to one kind in
-- practice, so their index goes without the kind; knowledge is asked for by category, not by task.
CREATE INDEX current_by_kind ON records (project, kind, id)
  WHERE retired_at IS NULL;
CREATE INDEX current_by_category ON records (project, category, id)
  WHERE retired_at IS NULL AND category IS NOT NULL;
CREATE INDEX current_by_state ON records (project, kind, state, id)
  WHERE retired_at IS NULL AND state IS NOT NULL;
CREATE INDEX current_by_task ON records (project, task, kind, id)
  WHERE retired_at IS NULL AND task IS NOT NULL AND kind <> 'knowledge';
CREATE INDEX current_by_expiry ON records (project, kind, expires_at)
  WHERE retired_at IS NULL AND expires_at IS NOT NULL;

CREATE INDEX records_by_successor ON records (project, replaced_by)
  WHERE replaced_by IS NOT NULL;

-- Times during which a record was not current although it is not retired any more: from its retirement
-- until it was brought back.
CREATE TABLE lapses (
  project     INTEGER NOT NULL,
  id          BLOB    NOT NULL,
  retired_at  INTEGER NOT NULL,
  restored_at INTEGER NOT NULL,
  PRIMARY KEY (project, id, retired_at, restored_at),
  FOREIGN KEY (project, id) REFERENCES records (project, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  project    INTEGER NOT NULL REFERENCES projects (id),
  id         TEXT    NOT NULL,
  agent      TEXT,
  task       TEXT,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  attrs      TEXT,              -- JSON object; null = {}
  PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_start ON sessions (project, started_at, id);
CREATE INDEX sessions_by_task ON sessions (project, task, started_at, id)
  WHERE task IS NOT NULL;

-- With a rowid: turns can be large, and a table without one keeps whole rows in its inner pages.
CREATE TABLE messages (
  project INTEGER NOT NULL,
  session TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  id      BLOB    NOT NULL,
  role    TEXT    NOT NULL,
  sender  TEXT,
  text    TEXT    NOT NULL,
  attrs   TEXT,                 -- JSON object; null = {}
  tokens  INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (project, session, seq),
  UNIQUE (project, id),
  FOREIGN KEY (project, session) REFERENCES sessions (project, id)
) STRICT;

-- For people: names, UUIDs and times as text, whatever became of the record.
CREATE VIEW records_all AS SELECT
  p.name AS project,
  lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4)
    || '-' || substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) AS id,
  r.kind, r.key, r.text, r.attrs,
  r.plan, r."group", r.session, r.task, r.agent, r.phase, r.iteration,
  r.source, r.confidence, r.tokens,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.recorded_at / 1e6, 'unixepoch') AS recorded_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.true_from / 1e6, 'unixepoch') AS true_from,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.true_to / 1e6, 'unixepoch') AS true_to,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.retired_at / 1e6, 'unixepoch') AS retired_at,
  lower(substr(hex(r.replaced_by), 1, 8) || '-' || substr(hex(r.replaced_by), 9, 4)
    || '-' || substr(hex(r.replaced_by), 13, 4) || '-' || substr(hex(r.replaced_by), 17, 4)
    || '-' || substr(hex(r.replaced_by), 21)) AS replaced_by,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.expires_at / 1e6, 'unixepoch') AS expires_at,
  (r.retired_at IS NULL
    AND (r.expires_at IS NULL OR r.expires_at / 1e6 > unixepoch('now', 'subsec'))) AS is_current
FROM records r JOIN projects p ON p.id = r.project;

-- What is current, one view a kind, one column an attribute.
CREATE VIEW knowledge AS SELECT
  project, id, key, text,
  attrs ->> '$.category' AS category,
  attrs ->> '$.rationale' AS rationale,
  ifnull(attrs ->> '$.confirmations', 0) AS confirmations,
  attrs ->> '$.confirmed_at' AS confirmed_at,
  ifnull(attrs ->> '$.proposal', 0) AS proposal,
  ifnull(attrs ->> '$.conflict', 0) AS conflict,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'knowledge' AND is_current;

CREATE VIEW tasks AS SELECT
  project, id, key, text,
  attrs ->> '$.type' AS type,
  attrs ->> '$.branch' AS branch,
  attrs ->> '$.pr_number' AS pr_number,
  attrs ->> '$.blocked_reason' AS blocked_reason,
  attrs ->> '$.state' AS state,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'task' AND is_current;

CREATE VIEW steps AS SELECT
  project, id, key, text,
  attrs ->> '$.state' AS state,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'step' AND is_current;

CREATE VIEW errors AS SELECT
  project, id, key, text,
  attrs ->> '$.state' AS state,
  attrs ->> '$.resolution' AS resolution,
  ifnull(attrs ->> '$.repeats', 0) AS repeats,
  attrs ->> '$.repeated_at' AS repeated_at,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'error' AND is_current;

CREATE VIEW episodes AS SELECT
  project, id, key, text,
  attrs ->> '$.action' AS action,
  attrs ->> '$.approach' AS approach,
  attrs ->> '$.outcome' AS outcome,
  attrs ->> '$.duration_ms' AS duration_ms,
  attrs ->> '$.tokens_in' AS tokens_in,
  attrs ->> '$.tokens_out' AS tokens_out,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'episode' AND is_current;

CREATE VIEW artifacts AS SELECT
  project, id, key, text,
  attrs ->> '$.type' AS type,
  attrs ->> '$.path' AS path,
  attrs ->> '$.description' AS description,
  attrs ->> '$.size_bytes' AS size_bytes,
  attrs ->> '$.checksum' AS checksum,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'artifact' AND is_current;

CREATE VIEW outputs AS SELECT
  project, id, key, text,
  attrs ->> '$.metadata' AS metadata,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'output' AND is_current;

CREATE VIEW notes AS SELECT
  project, id, key, text,
  attrs ->> '$.category' AS category,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'note' AND is_current;

CREATE VIEW summaries AS SELECT
  project, id, key, text,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'summary' AND is_current;
