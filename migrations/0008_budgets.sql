-- Budgets: hard limits on what a tenant is charged. Money is set aside before a sandbox starts, in
-- the transaction that writes its intention, so that parallel creates cannot spend it twice.
CREATE TABLE budget (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  name text NOT NULL,
  amount numeric NOT NULL CHECK (amount >= 0),
  currency text NOT NULL,
  time_window text NOT NULL CHECK (time_window IN ('day', 'week', 'month', 'total')),
  timezone text NOT NULL,
  on_exceeded text NOT NULL CHECK (on_exceeded IN ('deny', 'pause', 'kill')),
  alert_at int[] NOT NULL DEFAULT '{}',  -- percent, ascending
  -- Prepaid money, which a budget without a window may spend on top of its amount.
  credits numeric NOT NULL DEFAULT 0,
  -- Where the window stands. Charges of usage that begins in it count; null: never ends.
  window_start timestamptz NOT NULL,
  window_end timestamptz,
  spent numeric NOT NULL DEFAULT 0,
  reserved numeric NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  alerted int NOT NULL DEFAULT 0,  -- the highest threshold told of in this window
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant, name)
) WITH (fillfactor = 50);

-- The window of a kind around a moment, by the calendar of a time zone (weeks begin on Monday).
CREATE FUNCTION budget_window_start(kind text, zone text, at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN kind = 'total' THEN 'epoch'::timestamptz
    ELSE date_trunc(kind, at AT TIME ZONE zone) AT TIME ZONE zone END
$$;
CREATE FUNCTION budget_window_end(kind text, zone text, at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN kind = 'total' THEN NULL
    ELSE (date_trunc(kind, at AT TIME ZONE zone) + ('1 ' || kind)::interval) AT TIME ZONE zone END
$$;

-- What is set aside for one sandbox of a tenant with budgets, and until when that lasts.
CREATE TABLE reservation (
  sandbox text PRIMARY KEY,
  tenant text NOT NULL,
  currency text NOT NULL,
  charge_per_hour numeric NOT NULL CHECK (charge_per_hour >= 0),
  held numeric NOT NULL CHECK (held >= 0),
  covered_until timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,  -- when the sandbox's time ends; no more is needed beyond
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX reservation_of_tenant ON reservation (tenant);
CREATE INDEX reservation_running_out ON reservation (covered_until);

-- What budgets have to say, in order; a reader keeps its own place.
CREATE TABLE budget_event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  type text NOT NULL CHECK (type IN ('budget.alert', 'budget.exceeded')),
  data jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TRIGGER budget_event_is_a_fact BEFORE UPDATE OR DELETE ON budget_event
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE FUNCTION notify_budget_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('budget_events', NEW.id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER budget_event_told AFTER INSERT ON budget_event
  FOR EACH ROW EXECUTE FUNCTION notify_budget_event();
