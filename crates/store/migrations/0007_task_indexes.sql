-- The knowledge of a task and its open errors are found without a visit to those of all other tasks.
CREATE INDEX knowledge_by_task ON records (project, task, id)
  WHERE retired_at IS NULL AND task IS NOT NULL AND kind = 'knowledge';
CREATE INDEX open_errors_by_task ON records (project, task, id)
  WHERE retired_at IS NULL AND kind = 'error' AND state = 'open';
