-- Layers and recall: the index, conflicts, marks.

-- The index of words and meanings, written in the transaction of what it indexes.
--
-- Everything here can be built anew from records and messages. An ordinal counts what is indexed in a project:
-- 0, 1, 2... What is retired keeps its postings and is marked in `gone`.

ALTER TABLE records ADD COLUMN ordinal INTEGER;
ALTER TABLE messages ADD COLUMN ordinal INTEGER;

CREATE TABLE index_totals (
  project    INTEGER PRIMARY KEY REFERENCES projects (id),
  texts      INTEGER NOT NULL,   -- the next ordinal
  len        INTEGER NOT NULL,   -- stems of all texts
  head_len   INTEGER NOT NULL,   -- stems of their heads
  merged     INTEGER NOT NULL,   -- ordinals below this are in blocks, the others in the tail
  generation INTEGER NOT NULL    -- how often the index was built anew
) STRICT;

CREATE TABLE ordinals (
  project INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  id      BLOB    NOT NULL,
  is_turn INTEGER NOT NULL,      -- 1: a message
  PRIMARY KEY (project, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE postings (
  project INTEGER NOT NULL,
  term    INTEGER NOT NULL,      -- 48 bits of the hash of a stem
  block   INTEGER NOT NULL,
  data    BLOB    NOT NULL,
  PRIMARY KEY (project, term, block)
) STRICT, WITHOUT ROWID;

-- What is not in blocks yet.
CREATE TABLE tail (
  project INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  terms   BLOB    NOT NULL,      -- 6 bytes of term and 1 of code each, by term
  pieces  BLOB    NOT NULL,      -- 2 bytes each, distinct
  vector  BLOB    NOT NULL,      -- empty if there is none
  PRIMARY KEY (project, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE gone (
  project INTEGER NOT NULL,
  block   INTEGER NOT NULL,      -- of 8,192 ordinals
  bits    BLOB    NOT NULL,
  PRIMARY KEY (project, block)
) STRICT, WITHOUT ROWID;

-- 256 vectors to a row.
CREATE TABLE vectors (
  id   INTEGER PRIMARY KEY,      -- project * 2^32 + block
  data BLOB    NOT NULL
) STRICT;

CREATE TABLE piece_counts (
  project INTEGER PRIMARY KEY,
  data    BLOB    NOT NULL
) STRICT;

-- Conflicts that nobody has decided, and what people see of them.

CREATE INDEX open_conflicts ON records (project, id)
  WHERE retired_at IS NOT NULL AND kind = 'knowledge'
    AND json_extract(attrs, '$.conflict') = 1 AND json_extract(attrs, '$.arbitrated') IS NULL;

DROP VIEW knowledge;
CREATE VIEW knowledge AS SELECT
  project, id, key, text,
  attrs ->> '$.category' AS category,
  attrs ->> '$.rationale' AS rationale,
  ifnull(attrs ->> '$.confirmations', 0) AS confirmations,
  attrs ->> '$.confirmed_at' AS confirmed_at,
  ifnull(attrs ->> '$.proposal', 0) AS proposal,
  ifnull(attrs ->> '$.conflict', 0) AS conflict,
  attrs ->> '$.arbitrated' AS arbitrated,
  ifnull(attrs ->> '$.disputed', 0) AS disputed,
  plan, "group", session, task, agent, phase, iteration,
  source, confidence, tokens, recorded_at, true_from, true_to, expires_at
FROM records_all WHERE kind = 'knowledge' AND is_current;

-- Records that are in every context of their scope: few, and asked for by every context.

ALTER TABLE records ADD COLUMN
  pinned INTEGER GENERATED ALWAYS AS (json_extract(attrs, '$.pinned')) VIRTUAL;

CREATE INDEX current_pinned ON records (project, id)
  WHERE retired_at IS NULL AND pinned;
