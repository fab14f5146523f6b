-- Deployments: accounts at backends, of the operator (shared) or a tenant's own.

CREATE SEQUENCE deployment_change;  -- a number no deployment ever has twice, even made anew

CREATE TABLE deployment (
  tenant text REFERENCES tenant,  -- null: the operator's, shared with all tenants
  name text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  provider text NOT NULL,
  settings jsonb NOT NULL,
  credential_names text[] NOT NULL,
  credentials bytea NOT NULL,  -- a JSON object, sealed with the master key
  enabled boolean NOT NULL,
  weight integer NOT NULL CHECK (weight >= 0),
  version bigint NOT NULL DEFAULT nextval('deployment_change'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (tenant, name)
);
