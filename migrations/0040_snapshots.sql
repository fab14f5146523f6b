-- What a sandbox's pause keeps (while pausing: what was asked for), and what its create asked for
-- beyond its profile, without values: copies of it are held to the same.
ALTER TABLE sandbox
  ADD COLUMN kept text CHECK (kept IN ('nothing', 'disk', 'memory')),
  ADD COLUMN wishes jsonb NOT NULL DEFAULT '{}';

CREATE INDEX sandbox_half_paused ON sandbox (lease_until) WHERE state IN ('pausing', 'resuming');

-- Kept states of sandboxes. A row is written before its backend is asked and goes when the backend
-- has forgotten it.
CREATE TABLE snapshot (
  id text PRIMARY KEY CHECK (id ~ '^sn[a-z0-9]{24}$'),
  tenant text NOT NULL,
  state text NOT NULL CHECK (state IN ('creating', 'ready', 'removing')),
  for_fork boolean NOT NULL,  -- nobody's to see; removed when the fork is done
  name text NOT NULL DEFAULT '',
  sandbox text NOT NULL,
  deployment text NOT NULL,  -- what holds it
  backend_id text NOT NULL DEFAULT '',  -- empty until the backend said yes
  kept text NOT NULL CHECK (kept IN ('nothing', 'disk', 'memory')),
  disk_gib bigint NOT NULL,
  size_bytes bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- While creating and for forks: its maker's until then. While removing: when it is tried next.
  lease_until timestamptz NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  CONSTRAINT snapshot_made CHECK (state <> 'ready' OR backend_id <> '')
);

CREATE INDEX snapshot_of_tenant ON snapshot (tenant, created_at DESC, id DESC);
CREATE INDEX snapshot_unfinished ON snapshot (lease_until) WHERE state <> 'ready' OR for_fork;
