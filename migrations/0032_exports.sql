-- Where usage is sent to. `cursor` is the last usage_event.sequence that the receiver has, or that
-- waits as a dead letter; it moves on only after the receiver has answered.
CREATE TABLE export (
  name text PRIMARY KEY,
  kind text NOT NULL,
  settings jsonb NOT NULL,
  secrets bytea NOT NULL,  -- sealed
  secret_names jsonb NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  cursor bigint NOT NULL,
  sent bigint NOT NULL DEFAULT 0,
  failures int NOT NULL DEFAULT 0,  -- in a row
  error text NOT NULL DEFAULT '',
  next_try_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz NOT NULL DEFAULT now(),
  version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Events that a receiver refused for good; `retry` puts one in line again.
CREATE TABLE export_dead_letter (
  export text NOT NULL REFERENCES export (name) ON DELETE CASCADE,
  event uuid NOT NULL,
  interval_start timestamptz NOT NULL,
  sequence bigint NOT NULL,
  reason text NOT NULL,
  retry boolean NOT NULL DEFAULT false,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (export, event)
);
CREATE INDEX export_dead_letter_in_order ON export_dead_letter (export, sequence);
