-- All of a tenant's budgets, by their ids: of a plain subquery only those are locked that pay for the
-- sandbox, because the condition is moved into it. Who had to go on from there, and locked them all,
-- then waited for one with a lower id, whose holder might wait for these.
CREATE OR REPLACE FUNCTION set_aside_by_prices(publishing bigint, wanted text, box text, money text,
  rate numeric, needed numeric, covers interval, lives interval, what jsonb, told timestamptz,
  paid_ahead numeric, OUT done boolean, OUT generation bigint)
VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz;
  paid boolean;
  payers bigint[];
BEGIN
  IF NOT EXISTS (SELECT FROM budget WHERE tenant = wanted) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(publishing);
  at := coalesce(told, clock_timestamp());
  WITH held AS MATERIALIZED (SELECT *, amount + credits - spent - reserved AS rest FROM budget
    WHERE tenant = wanted ORDER BY id FOR UPDATE)
  SELECT bool_and(b.currency = money AND (b.window_end IS NULL OR at < b.window_end)
      AND b.rest >= needed AND b.rest > 0), array_agg(b.id),
      coalesce((SELECT max(id) FROM price_version), 0)
    INTO paid, payers, generation FROM held b WHERE what @> b.applies_to;
  done := coalesce(paid, false);
  IF NOT done THEN
    RETURN;
  END IF;
  -- A statement of its own, which sees what those did that held the budgets before.
  WITH free AS MATERIALIZED (SELECT
    WHERE NOT EXISTS (SELECT FROM reservation WHERE tenant = wanted AND reprice)
      AND NOT EXISTS (SELECT FROM reservation WHERE tenant = wanted
        AND covered_until < at + interval '5 minutes' AND covered_until < ends_at)
  ), counted AS (
    UPDATE budget SET reserved = reserved + needed FROM free WHERE id = ANY (payers)
  )
  INSERT INTO reservation (sandbox, tenant, currency, charge_per_hour, held, covered_until, ends_at,
      subject, ahead)
    SELECT box, wanted, money, rate, needed, at + covers, at + lives, what, paid_ahead FROM free;
  done := FOUND;
END $$;

-- Moves the times of a reservation that is as told, with price publication held off before: publishers
-- reprice what is not locked. False: it is not as told, and its row is not locked either. An UPDATE
-- that waits for another writer keeps the row that it then passes over; whoever locks the budgets
-- next would have the two in the wrong order, and meet one that holds the budgets and wants the row.
CREATE FUNCTION move_reservation(publishing bigint, box text, money text, rate numeric,
  holding numeric, paid_ahead numeric, covers interval, lives interval, told timestamptz)
  RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(publishing);
  at := coalesce(told, clock_timestamp());
  BEGIN
    UPDATE reservation SET covered_until = at + covers, ends_at = at + lives
      WHERE sandbox = box AND currency = money AND charge_per_hour = rate AND held = holding
        AND ahead = paid_ahead AND NOT reprice;
    IF NOT FOUND THEN
      RAISE SQLSTATE 'SG001';
    END IF;
    RETURN true;
  EXCEPTION WHEN SQLSTATE 'SG001' THEN
    RETURN false;
  END;
END $$;
