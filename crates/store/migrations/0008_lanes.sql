-- The index of records apart from that of messages: each lane of a project has its own ordinals, postings, vectors and
-- totals. Lane 0 has the records, lane 1 the messages. It is built anew from both.

DROP TABLE index_totals;
DROP TABLE ordinals;
DROP TABLE postings;
DROP TABLE tail;
DROP TABLE gone;
DROP TABLE piece_counts;
DELETE FROM vectors;
UPDATE records SET ordinal = NULL;
UPDATE messages SET ordinal = NULL;

CREATE TABLE index_totals (
  project    INTEGER NOT NULL REFERENCES projects (id),
  lane       INTEGER NOT NULL,
  texts      INTEGER NOT NULL,   -- the next ordinal
  len        INTEGER NOT NULL,   -- stems of all texts
  head_len   INTEGER NOT NULL,   -- stems of their heads
  merged     INTEGER NOT NULL,   -- ordinals below this are in blocks, the others in the tail
  generation INTEGER NOT NULL,   -- how often the index was built anew
  PRIMARY KEY (project, lane)
) STRICT, WITHOUT ROWID;

CREATE TABLE ordinals (
  project INTEGER NOT NULL,
  lane    INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  id      BLOB    NOT NULL,
  PRIMARY KEY (project, lane, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE postings (
  project INTEGER NOT NULL,
  lane    INTEGER NOT NULL,
  term    INTEGER NOT NULL,      -- 48 bits of the hash of a stem
  block   INTEGER NOT NULL,
  data    BLOB    NOT NULL,
  PRIMARY KEY (project, lane, term, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE tail (
  project INTEGER NOT NULL,
  lane    INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  terms   BLOB    NOT NULL,      -- 6 bytes of term and 1 of code each, by term
  pieces  BLOB    NOT NULL,      -- 2 bytes each, distinct
  vector  BLOB    NOT NULL,      -- empty if there is none
  PRIMARY KEY (project, lane, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE gone (
  project INTEGER NOT NULL,
  lane    INTEGER NOT NULL,
  block   INTEGER NOT NULL,      -- of 8,192 ordinals
  bits    BLOB    NOT NULL,
  PRIMARY KEY (project, lane, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE piece_counts (
  project INTEGER NOT NULL,
  lane    INTEGER NOT NULL,
  data    BLOB    NOT NULL,
  PRIMARY KEY (project, lane)
) STRICT, WITHOUT ROWID;
