-- Tenants, their API keys, and the trail of what was changed by whom.

-- For tables that only ever grow: history is corrected by adding to it.
CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: rows are never changed once written', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TABLE tenant (
  id text PRIMARY KEY CHECK (id ~ '^tn[a-z0-9]{24}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  suspended boolean NOT NULL DEFAULT false,
  -- Limits; null means none.
  max_running bigint CHECK (max_running >= 0),
  max_milli_vcpu bigint CHECK (max_milli_vcpu >= 0),
  creates_per_minute bigint CHECK (creates_per_minute >= 0),
  requests_per_second bigint CHECK (requests_per_second > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tenant_by_age ON tenant (created_at, id);

CREATE TABLE api_key (
  id text PRIMARY KEY CHECK (id ~ '^ky[a-z0-9]{24}$'),
  tenant text REFERENCES tenant,  -- null: an operator's key
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'viewer', 'operator')),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((tenant IS NULL) = (role = 'operator'))
);
CREATE INDEX api_key_by_age ON api_key (created_at, id);
CREATE INDEX api_key_by_tenant ON api_key (tenant, created_at, id);

-- A key has one secret, and during the grace of a rotation also the one before. SHA-256 is enough
-- for 160 random bits: there is nothing to guess.
CREATE TABLE api_key_secret (
  hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
  key text NOT NULL REFERENCES api_key,
  valid_until timestamptz,  -- set by rotation
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_key_secret_by_key ON api_key_secret (key);

CREATE TABLE audit_entry (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  tenant text,  -- whose object it is; null: the operator's. No reference: the trail outlives all
  key text NOT NULL,  -- empty: the operator key of the environment
  key_name text NOT NULL,
  role text NOT NULL,
  action text NOT NULL,
  object text NOT NULL,
  before jsonb,
  after jsonb,
  request text NOT NULL
);
CREATE INDEX audit_entry_by_tenant ON audit_entry (tenant, id);
CREATE INDEX audit_entry_by_object ON audit_entry (object, id);
CREATE TRIGGER audit_entry_is_append_only BEFORE UPDATE OR DELETE ON audit_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER audit_entry_is_never_emptied BEFORE TRUNCATE ON audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
