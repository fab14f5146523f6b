-- A channel's shadow: for a share of its creates another version decides too, and what it makes is
-- killed at once.
ALTER TABLE profile_channel
  ADD COLUMN shadow_version integer,
  ADD COLUMN shadow_percent integer CHECK (shadow_percent BETWEEN 0 AND 100),
  ADD FOREIGN KEY (profile, shadow_version) REFERENCES profile_version (profile, version),
  ADD CHECK ((shadow_version IS NULL) = (shadow_percent IS NULL));

-- Written before a backend is asked. A sandbox that outlives its row's `running` is nobody's: the
-- sweep of orphans ends it.
CREATE TABLE shadow (
  id text PRIMARY KEY CHECK (id ~ '^sb[a-z0-9]{24}$'),  -- what backends carry
  sandbox text NOT NULL,  -- beside whose create
  tenant text NOT NULL,
  profile text NOT NULL,
  version int NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('running', 'created', 'failed', 'refused')),
  document jsonb NOT NULL,  -- its decision; empty when the version refuses the request
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX shadow_of_sandbox ON shadow (sandbox);
CREATE INDEX shadow_of_profile ON shadow (tenant, profile, version, created_at);
