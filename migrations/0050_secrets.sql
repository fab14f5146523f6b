-- Secrets of tenants, and which sandboxes show a placeholder for one.

CREATE SEQUENCE secret_change;  -- a number no value ever has twice, even of a secret made anew

CREATE TABLE secret (
  tenant text NOT NULL REFERENCES tenant,
  name text NOT NULL CHECK (name ~ '^[A-Za-z_][A-Za-z0-9_]{0,127}$'),
  value bytea NOT NULL,  -- sealed with the master key
  version bigint NOT NULL DEFAULT nextval('secret_change'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, name)
);

-- By name, not by reference: a secret that is removed is gone from running sandboxes, one that is
-- made again is back.
CREATE TABLE sandbox_secret (
  sandbox text NOT NULL REFERENCES sandbox,
  name text NOT NULL,
  host text NOT NULL,
  header text NOT NULL,
  placeholder text NOT NULL UNIQUE,
  PRIMARY KEY (sandbox, name)
);

CREATE FUNCTION forget_sandbox_secrets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sandbox_secret WHERE sandbox = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER sandbox_ended_secrets AFTER UPDATE OF ended_at ON sandbox FOR EACH ROW
  WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION forget_sandbox_secrets();
