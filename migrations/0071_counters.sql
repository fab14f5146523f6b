-- A reading of a backend's counters stands for the running time since the last one. What lies
-- before a pause is known by these: where running stopped, and where it went on (null: not yet).
ALTER TABLE metered_sandbox
  ADD COLUMN paused_from timestamptz,
  ADD COLUMN resumed_at timestamptz;
