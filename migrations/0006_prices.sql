-- Price books: effective-dated, and immutable because a bill must come out the same for ever.
CREATE TABLE price_version (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  book text NOT NULL,
  version int NOT NULL CHECK (version > 0),
  kind text NOT NULL CHECK (kind IN ('cost', 'charge')),
  tenant text CHECK (tenant IS NULL OR kind = 'charge'),  -- null: all
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  effective_from timestamptz NOT NULL,
  markup_percent numeric CHECK (markup_percent >= 0),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (book, version)
);

CREATE TABLE price_entry (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version_id bigint NOT NULL,  -- no foreign key: its check would need the right to update
  provider text NOT NULL,  -- '*': any
  deployment text NOT NULL DEFAULT '',  -- '': any
  region text NOT NULL DEFAULT '',
  meter text NOT NULL,
  unit_price numeric NOT NULL CHECK (unit_price >= 0),
  minimum numeric CHECK (minimum >= 0),
  rounding numeric CHECK (rounding > 0),
  included numeric CHECK (included >= 0),
  source text NOT NULL DEFAULT '',
  UNIQUE (version_id, provider, deployment, region, meter)
);

CREATE TRIGGER price_version_is_a_fact BEFORE UPDATE OR DELETE ON price_version
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER price_version_stays BEFORE TRUNCATE ON price_version
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER price_entry_is_a_fact BEFORE UPDATE OR DELETE ON price_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER price_entry_stays BEFORE TRUNCATE ON price_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- By right as well, so that it takes two mistakes.
REVOKE UPDATE, DELETE, TRUNCATE ON price_version, price_entry FROM PUBLIC, CURRENT_USER;
