-- The first answer under each Idempotency-Key, which retries are given again.
CREATE TABLE idempotent_call (
  scope text NOT NULL,  -- the tenant's id, or 'operator'
  operation text NOT NULL,  -- method and path
  key text NOT NULL,
  body_hash text NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'done')),
  -- Whoever runs the call renews its lease; one that is over means that its process is gone.
  owner text NOT NULL,
  lease_until timestamptz NOT NULL,
  status integer,
  content_type text,
  body text,  -- null when done: too large to keep
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope, operation, key)
);

-- For the purge of old rows.
CREATE INDEX idempotent_call_by_age ON idempotent_call (created_at);
