-- Sandboxes: a row is written before its backend is asked (the intention) and outlives the end.
CREATE TABLE sandbox (
  id text PRIMARY KEY CHECK (id ~ '^sb[a-z0-9]{24}$'),
  tenant text NOT NULL,
  state text NOT NULL CHECK (state IN
    ('creating', 'running', 'pausing', 'paused', 'resuming', 'stopping', 'stopped', 'failed')),
  profile text NOT NULL,
  profile_version int NOT NULL,
  decision text NOT NULL,

  -- Where it runs; empty until a backend said yes.
  deployment text NOT NULL DEFAULT '',
  provider text NOT NULL DEFAULT '',
  backend_id text NOT NULL DEFAULT '',
  isolation text NOT NULL,
  region text NOT NULL DEFAULT '',
  planned text[] NOT NULL,  -- deployments that may hold it when its creator dies half way

  persistence text NOT NULL,
  milli_vcpu bigint NOT NULL CHECK (milli_vcpu > 0),
  memory_mib bigint NOT NULL CHECK (memory_mib > 0),
  disk_gib bigint NOT NULL CHECK (disk_gib >= 0),
  processes bigint NOT NULL CHECK (processes > 0),
  metadata jsonb NOT NULL,
  charge_per_hour numeric,  -- an estimate at create; null: no price known
  currency text NOT NULL DEFAULT 'USD',

  created_at timestamptz NOT NULL DEFAULT now(),
  ttl_seconds bigint NOT NULL,
  max_ttl_seconds bigint NOT NULL,  -- what extend may ask for
  expires_at timestamptz NOT NULL,
  on_expiry text NOT NULL CHECK (on_expiry IN ('kill', 'pause')),
  idle_timeout_seconds bigint NOT NULL,  -- 0: none
  last_active_at timestamptz NOT NULL DEFAULT now(),
  on_idle text NOT NULL CHECK (on_idle IN ('kill', 'pause')),
  auto_resume boolean NOT NULL,

  -- While creating: its creator's until then. While stopping: when it is tried next.
  lease_until timestamptz NOT NULL,
  stop_attempts int NOT NULL DEFAULT 0,
  stop_requested_at timestamptz,  -- the tenant's charge ended here
  stop_reason text NOT NULL DEFAULT '',  -- killed, expired, idle, failed
  ended_at timestamptz,
  failure_code text,  -- also while stopping: then it ends as failed
  failure_detail text,

  CONSTRAINT sandbox_ended CHECK ((ended_at IS NOT NULL) = (state IN ('stopped', 'failed'))),
  CONSTRAINT sandbox_failure CHECK (state <> 'failed' OR failure_code IS NOT NULL),
  CONSTRAINT sandbox_placed CHECK (state NOT IN ('running', 'pausing', 'paused', 'resuming')
    OR backend_id <> '')
) WITH (fillfactor = 80);

CREATE INDEX sandbox_by_tenant ON sandbox (tenant, created_at DESC, id DESC);
CREATE INDEX sandbox_live_of_tenant ON sandbox (tenant) INCLUDE (milli_vcpu)
  WHERE ended_at IS NULL;
CREATE INDEX sandbox_metadata ON sandbox USING gin (metadata jsonb_path_ops);
CREATE INDEX sandbox_expiry ON sandbox (expires_at) WHERE state IN ('running', 'paused');
CREATE INDEX sandbox_idle ON sandbox (id) WHERE state = 'running' AND idle_timeout_seconds > 0;
CREATE INDEX sandbox_leases ON sandbox (lease_until) WHERE state IN ('creating', 'stopping');
CREATE INDEX sandbox_on_deployment ON sandbox (deployment, backend_id) WHERE ended_at IS NULL;

-- Why a backend was chosen, as known when it was chosen.
CREATE TABLE decision (
  id text PRIMARY KEY,
  sandbox text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  document jsonb NOT NULL
);

-- What came of asking each backend. `unknown` is work for the reaper until resolved_at.
CREATE TABLE attempt (
  sandbox text NOT NULL,
  ordinal int NOT NULL,
  deployment text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('created', 'failed', 'unknown', 'lost_race')),
  code text,
  duration_ms bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  next_look_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  PRIMARY KEY (sandbox, ordinal)
);
CREATE INDEX attempt_unresolved ON attempt (next_look_at)
  WHERE resolved_at IS NULL AND outcome IN ('unknown', 'lost_race');

-- Work that replicas take turns at ("reconcile/local").
CREATE TABLE sweep_lease (
  name text PRIMARY KEY,
  until timestamptz NOT NULL
);

-- Caches hold rows in settled states only, so changes of unsettled ones concern nobody.
CREATE FUNCTION notify_sandbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sandboxes', NEW.id);
  RETURN NULL;
END $$;

CREATE TRIGGER sandbox_changed AFTER UPDATE ON sandbox FOR EACH ROW
  WHEN (OLD.state NOT IN ('creating', 'stopping') AND
    (OLD.state, OLD.expires_at, OLD.deployment, OLD.backend_id, OLD.milli_vcpu, OLD.memory_mib,
      OLD.disk_gib, OLD.metadata, OLD.failure_code)
    IS DISTINCT FROM
    (NEW.state, NEW.expires_at, NEW.deployment, NEW.backend_id, NEW.milli_vcpu, NEW.memory_mib,
      NEW.disk_gib, NEW.metadata, NEW.failure_code))
  EXECUTE FUNCTION notify_sandbox();
