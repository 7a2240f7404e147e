-- Records that are in every context of their scope: few, and asked for by every context.

ALTER TABLE records ADD COLUMN
  pinned INTEGER GENERATED ALWAYS AS (json_extract(attrs, '$.pinned')) VIRTUAL;

CREATE INDEX current_pinned ON records (project, id)
  WHERE retired_at IS NULL AND pinned;
