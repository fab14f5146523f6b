-- Events: what happened, told within the transaction in which it happened. Writers only append to
-- the outbox. One replica at a time then moves what has committed into the log and numbers it
-- there: positions grow in the order in which readers come to see them, which a number drawn by
-- the writers would not.
CREATE TABLE event_outbox (
  ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL DEFAULT 'ev' || left(replace(gen_random_uuid()::text, '-', ''), 24),
  tenant text NOT NULL DEFAULT '',  -- empty: concerns everybody, such as a shared deployment
  type text NOT NULL,
  subject text NOT NULL,  -- "sandboxes/sb…", "budgets/<name>", "deployments/<name>"
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  data jsonb NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

CREATE TABLE event (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL,
  tenant text NOT NULL,
  type text NOT NULL,
  subject text NOT NULL,
  at timestamptz NOT NULL,
  data jsonb NOT NULL
);
CREATE INDEX event_of_tenant ON event (tenant, position);
CREATE INDEX event_of_subject ON event (subject, position);

-- Whether a type is meant by a list of types, where a trailing * stands for any end. An empty list
-- means every type.
CREATE FUNCTION event_matches(type text, wanted text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT cardinality(wanted) = 0 OR EXISTS (SELECT FROM unnest(wanted) AS one
    WHERE one = type OR (right(one, 1) = '*' AND starts_with(type, left(one, -1))))
$$;

-- Adds an event about a sandbox; `more` are members of its data besides those that all have.
-- In plpgsql, which keeps its plan: it runs for each create.
CREATE FUNCTION tell_sandbox(box sandbox, verb text, more jsonb DEFAULT '{}') RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_outbox (tenant, type, subject, data) VALUES (box.tenant, 'sandbox.' || verb,
    'sandboxes/' || box.id, jsonb_strip_nulls(jsonb_build_object('sandbox', box.id,
      'state', box.state, 'profile', box.profile, 'profile_version', box.profile_version,
      'deployment', nullif(box.deployment, ''), 'reason', nullif(box.stop_reason, ''),
      'failure', CASE WHEN box.state = 'failed' THEN
        jsonb_build_object('code', box.failure_code, 'detail', box.failure_detail) END))
      || jsonb_build_object('metadata', box.metadata) || more);
END $$;

-- Every way into a state tells of it, whoever takes it and with whatever statement. A sandbox is
-- told to have ended once nothing of it is left at its backend.
CREATE FUNCTION tell_sandbox_state() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  verb text;
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM tell_sandbox(NEW, 'created');
    IF NEW.state = 'running' THEN
      PERFORM tell_sandbox(NEW, 'running');
    END IF;
    RETURN NULL;
  END IF;
  verb := CASE
    WHEN NEW.state = 'running' AND OLD.state = 'creating' THEN 'running'
    WHEN NEW.state = 'running' AND OLD.state IN ('resuming', 'paused') THEN 'resumed'
    WHEN NEW.state = 'paused' AND OLD.state IN ('running', 'pausing') THEN 'paused'
    WHEN NEW.state = 'failed' THEN 'failed'
    WHEN NEW.state = 'stopped' AND NEW.stop_reason IN ('expired', 'idle') THEN 'expired'
    WHEN NEW.state = 'stopped' THEN 'killed'
  END;
  IF verb IS NOT NULL THEN
    PERFORM tell_sandbox(NEW, verb);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER sandbox_created_told AFTER INSERT ON sandbox
  FOR EACH ROW EXECUTE FUNCTION tell_sandbox_state();
CREATE TRIGGER sandbox_state_told AFTER UPDATE ON sandbox
  FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION tell_sandbox_state();

-- Budgets keep a trail of their own; it becomes events too. Nobody listens to its notification,
-- which would make commits wait for each other.
DROP TRIGGER budget_event_told ON budget_event;
DROP FUNCTION notify_budget_event();
CREATE FUNCTION tell_budget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_outbox (tenant, type, subject, at, data)
    VALUES (NEW.tenant, NEW.type, 'budgets/' || (NEW.data ->> 'budget'), NEW.at, NEW.data);
  RETURN NULL;
END $$;
CREATE TRIGGER budget_told AFTER INSERT ON budget_event
  FOR EACH ROW EXECUTE FUNCTION tell_budget();
