-- Profiles: immutable versions, and channels that point at them.

CREATE TABLE profile (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text REFERENCES tenant,  -- null: the operator's, shared with all tenants
  name text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  latest integer NOT NULL DEFAULT 0,  -- number of the newest version; never goes back
  archived_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (tenant, name)
);

CREATE TABLE profile_version (
  profile bigint NOT NULL REFERENCES profile,
  version integer NOT NULL CHECK (version > 0),
  document jsonb NOT NULL,
  content_hash text NOT NULL,
  created_by text NOT NULL,  -- id of the key, empty for the operator key of the environment
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (profile, version)
);
-- What ran under version 3 must be readable for ever.
CREATE TRIGGER profile_version_is_immutable BEFORE UPDATE OR DELETE ON profile_version
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER profile_version_is_never_emptied BEFORE TRUNCATE ON profile_version
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE TABLE profile_channel (
  profile bigint NOT NULL REFERENCES profile,
  channel text NOT NULL CHECK (channel ~ '^[a-z][a-z0-9._-]{0,62}$'),
  version integer NOT NULL,
  canary_version integer,
  canary_percent integer CHECK (canary_percent BETWEEN 0 AND 100),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (profile, channel),
  FOREIGN KEY (profile, version) REFERENCES profile_version,
  FOREIGN KEY (profile, canary_version) REFERENCES profile_version (profile, version),
  CHECK ((canary_version IS NULL) = (canary_percent IS NULL))
);
