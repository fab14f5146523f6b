-- The end of a sandbox may be written down before its last usage is booked. `unbooked_end`: closed
-- then, and not booked up to it yet; with what its backend had counted by its end.
ALTER TABLE metered_sandbox
  ADD COLUMN unbooked_end timestamptz,
  ADD COLUMN final_egress_bytes bigint,
  ADD COLUMN final_cpu_micros bigint,
  ADD COLUMN final_read_at timestamptz,
  ADD CHECK (unbooked_end IS NULL OR state = 'closed');
CREATE INDEX metered_sandbox_unbooked ON metered_sandbox (tenant) WHERE unbooked_end IS NOT NULL;
