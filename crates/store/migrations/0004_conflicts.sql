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
