-- Usage: intervals of sandboxes' lives, counted exactly once for ever. An event's id follows from
-- what it counts, so a retry, a crash or a replay can only repeat the same id.
CREATE EXTENSION IF NOT EXISTS "uuid-ossp";

-- Who is metered, and how far. The boundary only moves forward, in the transaction that books.
CREATE TABLE metered_sandbox (
  sandbox text PRIMARY KEY,
  tenant text NOT NULL,
  profile text NOT NULL,
  profile_version int NOT NULL,
  deployment text NOT NULL,
  provider text NOT NULL,
  region text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  state text NOT NULL CHECK (state IN ('running', 'paused_memory', 'paused_disk', 'closed')),
  milli_vcpu bigint NOT NULL CHECK (milli_vcpu >= 0),
  memory_mib bigint NOT NULL CHECK (memory_mib >= 0),
  disk_gib bigint NOT NULL CHECK (disk_gib >= 0),
  opened_at timestamptz NOT NULL,
  boundary timestamptz NOT NULL CHECK (boundary >= opened_at),
  -- Totals booked before the boundary; minimums and rounding count per sandbox.
  vcpu_total numeric NOT NULL DEFAULT 0,
  memory_total numeric NOT NULL DEFAULT 0,
  disk_total numeric NOT NULL DEFAULT 0,
  -- What the backend's own counters said last, and what was booked of them.
  observed_at timestamptz NOT NULL,
  egress_bytes_seen bigint NOT NULL DEFAULT 0,
  egress_total numeric NOT NULL DEFAULT 0,
  cpu_micros_seen bigint NOT NULL DEFAULT 0,
  cpu_total numeric NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE INDEX metered_sandbox_open ON metered_sandbox (boundary) WHERE state <> 'closed';
CREATE INDEX metered_sandbox_open_of_tenant ON metered_sandbox (tenant) WHERE state <> 'closed';

-- Order of booking: what an issued invoice has seen and what came later.
CREATE SEQUENCE usage_sequence;

CREATE TABLE usage_event (
  id uuid NOT NULL,
  interval_start timestamptz NOT NULL,
  interval_end timestamptz NOT NULL,
  sandbox text NOT NULL,
  tenant text NOT NULL,
  profile text NOT NULL,
  profile_version int NOT NULL,
  deployment text NOT NULL,
  provider text NOT NULL,
  region text NOT NULL,
  meter text NOT NULL CHECK (meter IN ('vcpu_second', 'memory_gib_second', 'disk_gib_second',
    'egress_gib', 'sandbox_created', 'active_cpu_second', 'gpu_second')),
  quantity numeric NOT NULL CHECK (quantity >= 0),
  quantity_before numeric NOT NULL CHECK (quantity_before >= 0),  -- of this sandbox and meter
  -- The rated line, and which prices made it.
  cost numeric NOT NULL CHECK (cost >= 0),
  cost_currency text NOT NULL,
  cost_entry bigint,
  charge numeric NOT NULL CHECK (charge >= 0),
  charge_currency text NOT NULL,
  charge_entry bigint,
  markup_version bigint,
  sequence bigint NOT NULL DEFAULT nextval('usage_sequence'),
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (interval_start, id),
  CONSTRAINT usage_event_forward CHECK (interval_end >= interval_start),
  CONSTRAINT usage_event_derived_id CHECK (id = uuid_generate_v5(
    '6f1d3c52-8a0e-5b7a-9c41-2e7b5d90aa13'::uuid,
    sandbox || '|' || meter || '|' || (extract(epoch FROM interval_start) * 1000000)::bigint))
) PARTITION BY RANGE (interval_start);

CREATE INDEX usage_event_of_tenant ON usage_event (tenant, interval_start, id);
-- What came in after an invoice was issued is found by its number.
CREATE INDEX usage_event_in_order ON usage_event USING brin (sequence);

CREATE TRIGGER usage_event_is_a_fact BEFORE UPDATE OR DELETE ON usage_event
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER usage_event_stays BEFORE TRUNCATE ON usage_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Takes what no month has been made for yet; usage is never refused for its date.
CREATE TABLE usage_event_default PARTITION OF usage_event DEFAULT;
CREATE TRIGGER usage_event_default_stays BEFORE TRUNCATE ON usage_event_default
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Makes the partition of a month (UTC), and moves into it what waited in the default one. True
-- when it was made.
CREATE FUNCTION create_usage_partition(month_start date) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  name text := 'usage_event_' || to_char(month_start, 'YYYY_MM');
  month timestamp := date_trunc('month', month_start::timestamp);
  first timestamptz := month AT TIME ZONE 'UTC';
  next timestamptz := (month + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
  IF to_regclass(name) IS NOT NULL THEN
    RETURN false;
  END IF;
  -- Holds off writers, who would otherwise add to the default partition while it is emptied.
  LOCK TABLE usage_event_default IN ACCESS EXCLUSIVE MODE;
  EXECUTE format('CREATE TABLE %I (LIKE usage_event INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
    name);
  EXECUTE format('INSERT INTO %I SELECT * FROM usage_event_default
    WHERE interval_start >= %L AND interval_start < %L', name, first, next);
  ALTER TABLE usage_event_default DISABLE TRIGGER USER;
  GRANT DELETE ON usage_event_default TO CURRENT_USER;
  DELETE FROM usage_event_default WHERE interval_start >= first AND interval_start < next;
  REVOKE DELETE ON usage_event_default FROM CURRENT_USER;
  ALTER TABLE usage_event_default ENABLE TRIGGER USER;
  EXECUTE format('ALTER TABLE usage_event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
    name, first, next);
  EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()', name || '_stays', name);
  EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM PUBLIC, CURRENT_USER', name);
  RETURN true;
END $$;

-- The current month and `ahead` more. The number made.
CREATE FUNCTION create_usage_partitions(ahead int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  made int := 0;
BEGIN
  FOR months IN 0..ahead LOOP
    IF create_usage_partition(
        (date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => months))::date)
    THEN
      made := made + 1;
    END IF;
  END LOOP;
  RETURN made;
END $$;

-- Takes the months that ended before `keep_from` out of the table; they stay as tables of their
-- own, to be archived and dropped by hand. The names taken out.
CREATE FUNCTION detach_usage_partitions(keep_from date) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  name text;
BEGIN
  FOR name IN
    SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent = 'usage_event'::regclass AND child.relname ~ '^usage_event_\d{4}_\d{2}$'
      AND to_date(right(child.relname, 7), 'YYYY_MM') + interval '1 month' <= keep_from
    ORDER BY 1
  LOOP
    EXECUTE format('ALTER TABLE usage_event DETACH PARTITION %I', name);
    RETURN NEXT name;
  END LOOP;
END $$;

SELECT create_usage_partitions(2);

-- Sums kept by the transaction that books. `shard` spreads writers over rows, readers add up.
CREATE TABLE usage_rollup (
  tenant text NOT NULL,
  day date NOT NULL,  -- UTC
  profile text NOT NULL,
  deployment text NOT NULL,
  provider text NOT NULL,
  meter text NOT NULL,
  cost_currency text NOT NULL,
  charge_currency text NOT NULL,
  shard smallint NOT NULL,
  quantity numeric NOT NULL,
  cost numeric NOT NULL,
  charge numeric NOT NULL,
  events bigint NOT NULL,
  PRIMARY KEY (tenant, day, profile, deployment, provider, meter, cost_currency, charge_currency,
    shard)
) WITH (fillfactor = 70);
CREATE INDEX usage_rollup_by_day ON usage_rollup (day);

REVOKE UPDATE, DELETE, TRUNCATE ON usage_event, usage_event_default FROM PUBLIC, CURRENT_USER;
