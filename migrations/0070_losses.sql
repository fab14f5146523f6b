-- Losses: what vendors cost and no tenant pays. A sandbox whose backend ended it later than its
-- charge did, and sandboxes that nobody had use for. Facts, as usage is.

-- What a sandbox was metered as when its charge ended; null: before that was noted.
ALTER TABLE metered_sandbox ADD COLUMN closed_as text
  CHECK (closed_as IN ('running', 'paused_memory', 'paused_disk'));

CREATE TABLE loss_event (
  id uuid PRIMARY KEY,
  interval_start timestamptz NOT NULL,
  interval_end timestamptz NOT NULL,
  sandbox text NOT NULL,  -- as its backend carries it; the registry may never have known it
  backend_id text NOT NULL,
  deployment text NOT NULL,
  provider text NOT NULL,
  region text NOT NULL,
  reason text NOT NULL CHECK (reason IN ('late_end', 'orphan')),
  meter text NOT NULL,
  quantity numeric NOT NULL CHECK (quantity > 0),
  quantity_before numeric NOT NULL CHECK (quantity_before >= 0),  -- of this sandbox and meter
  cost numeric NOT NULL CHECK (cost >= 0),
  cost_currency text NOT NULL,
  cost_entry bigint,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT loss_event_forward CHECK (interval_end >= interval_start),
  CONSTRAINT loss_event_derived_id CHECK (id = uuid_generate_v5(
    '6f1d3c52-8a0e-5b7a-9c41-2e7b5d90aa13'::uuid, sandbox || '|' || meter || '|'
    || (extract(epoch FROM interval_start) * 1000000)::bigint || '|' || backend_id))
);
CREATE INDEX loss_event_of_sandbox ON loss_event (sandbox);
CREATE INDEX loss_event_of_deployment ON loss_event (deployment, interval_start);

CREATE TRIGGER loss_event_is_a_fact BEFORE UPDATE OR DELETE ON loss_event
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER loss_event_stays BEFORE TRUNCATE ON loss_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
REVOKE UPDATE, DELETE, TRUNCATE ON loss_event FROM PUBLIC, CURRENT_USER;

-- Written before an orphan is killed: when its killer dies half way, what it cost is booked by who
-- finds it gone.
CREATE TABLE orphan (
  deployment text NOT NULL,
  owner text NOT NULL DEFAULT '',  -- the tenant whose own deployment it is
  backend_id text NOT NULL,
  sandbox text NOT NULL,
  provider text NOT NULL,
  region text NOT NULL,
  placed boolean NOT NULL,  -- it was the registry's until it ended there: it was made only once
  state text NOT NULL CHECK (state IN ('running', 'paused_memory', 'paused_disk')),
  milli_vcpu bigint NOT NULL,
  memory_mib bigint NOT NULL,
  disk_gib bigint NOT NULL,
  since timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (deployment, owner, backend_id)
);
CREATE INDEX orphan_open ON orphan (deployment, owner) WHERE ended_at IS NULL;
