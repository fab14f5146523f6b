-- How far each journal of an outage was replayed, moved on by the transactions that replay it.
CREATE TABLE outage_journal (
  journal text PRIMARY KEY,
  through bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

-- When the counters in egress_bytes_seen and cpu_micros_seen were read, by the reader's clock: of
-- two readings that arrive out of order the older is not a counter that began anew.
ALTER TABLE metered_sandbox ADD COLUMN counters_at timestamptz NOT NULL DEFAULT 'epoch';
