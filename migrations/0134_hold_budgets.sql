-- A tenant's budgets, locked by their ids, with price publication held off before: one round trip
-- for what every create of a tenant with budgets asks. Nothing is held where there are none. The
-- statements of a volatile function each see what was committed before them.
CREATE FUNCTION hold_budgets(publishing bigint, wanted text) RETURNS SETOF budget
VOLATILE LANGUAGE plpgsql ROWS 1 AS $$
BEGIN
  IF EXISTS (SELECT FROM budget WHERE tenant = wanted) THEN
    PERFORM pg_advisory_xact_lock_shared(publishing);
    RETURN QUERY SELECT * FROM budget WHERE tenant = wanted ORDER BY id FOR UPDATE;
  END IF;
END $$;

-- Sets money aside for a sandbox in one round trip where nothing has to be judged: every budget that
-- holds for it is in its currency, in its window, and has the money. False: it is not so, and
-- nothing was done. Null: the tenant has no budgets.
CREATE FUNCTION set_aside(publishing bigint, wanted text, box text, money text, rate numeric,
  needed numeric, covers interval, lives interval, what jsonb, told timestamptz) RETURNS boolean
VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz;
  paid boolean;
  payers bigint[];
BEGIN
  IF NOT EXISTS (SELECT FROM budget WHERE tenant = wanted) THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(publishing);
  at := coalesce(told, clock_timestamp());
  SELECT bool_and(b.currency = money AND (b.window_end IS NULL OR at < b.window_end)
      AND b.rest >= needed AND b.rest > 0), array_agg(b.id)
    INTO paid, payers
    FROM (SELECT *, amount + credits - spent - reserved AS rest FROM budget
      WHERE tenant = wanted ORDER BY id FOR UPDATE) b
    WHERE what @> b.applies_to;
  IF paid IS NOT TRUE THEN
    RETURN false;
  END IF;
  UPDATE budget SET reserved = reserved + needed WHERE id = ANY (payers);
  INSERT INTO reservation
      (sandbox, tenant, currency, charge_per_hour, held, covered_until, ends_at, subject)
    VALUES (box, wanted, money, rate, needed, at + covers, at + lives, what);
  RETURN true;
END $$;
