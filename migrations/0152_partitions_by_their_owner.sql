-- The lock asks for a right that was taken from the role, and that only a superuser has anyway: its
-- owner takes it for as long as this transaction lasts, and nobody else ever sees it.
CREATE OR REPLACE FUNCTION create_usage_partition(month_start date) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  name text := 'usage_event_' || to_char(month_start, 'YYYY_MM');
  month timestamp := date_trunc('month', month_start::timestamp);
  first timestamptz := month AT TIME ZONE 'UTC';
  next timestamptz := (month + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
  -- Rights are changed before the table is locked: of two gateways the second waits here.
  PERFORM pg_advisory_xact_lock(hashtext('create_usage_partition'));
  IF to_regclass(name) IS NOT NULL THEN
    RETURN false;
  END IF;
  GRANT DELETE ON usage_event_default TO CURRENT_USER;
  -- Holds off writers, who would otherwise add to the default partition while it is emptied.
  LOCK TABLE usage_event_default IN ACCESS EXCLUSIVE MODE;
  EXECUTE format('CREATE TABLE %I (LIKE usage_event INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
    name);
  EXECUTE format('INSERT INTO %I SELECT * FROM usage_event_default
    WHERE interval_start >= %L AND interval_start < %L', name, first, next);
  ALTER TABLE usage_event_default DISABLE TRIGGER USER;
  DELETE FROM usage_event_default WHERE interval_start >= first AND interval_start < next;
  ALTER TABLE usage_event_default ENABLE TRIGGER USER;
  REVOKE DELETE ON usage_event_default FROM CURRENT_USER;
  EXECUTE format('ALTER TABLE usage_event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
    name, first, next);
  EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()', name || '_stays', name);
  EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM PUBLIC, CURRENT_USER', name);
  RETURN true;
END $$;
