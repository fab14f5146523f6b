-- What one gateway decided about a deployment's breaker, for the others of this database.
CREATE TABLE deployment_breaker (
  deployment text PRIMARY KEY,  -- "name", or "tenant/name" of a tenant's own
  state text NOT NULL CHECK (state IN ('open', 'closed')),
  open_until timestamptz NOT NULL,
  cooldown_seconds bigint NOT NULL,
  decided_at timestamptz NOT NULL  -- the later decision counts, however late it is written
);
