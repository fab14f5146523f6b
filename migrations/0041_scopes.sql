-- Sandboxes that creates share: what they have to have in common, as a digest. Empty: nobody's but
-- its creator's.
ALTER TABLE sandbox ADD COLUMN scope_key text NOT NULL DEFAULT '';

CREATE INDEX sandbox_in_scope ON sandbox (tenant, scope_key)
  WHERE scope_key <> '' AND ended_at IS NULL;
