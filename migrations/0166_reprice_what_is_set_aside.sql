-- Whether the time that a reservation lasts has to be reckoned anew: prices were published since, or
-- money was taken back from it. Budgets::extend() does that.
ALTER TABLE reservation ADD COLUMN reprice boolean NOT NULL DEFAULT false;
CREATE INDEX reservation_to_reprice ON reservation (tenant) WHERE reprice;

-- As before, and nothing is set aside at once where that has to be done first: what is left may be
-- what a rise takes.
CREATE OR REPLACE FUNCTION set_aside(publishing bigint, wanted text, box text, money text, rate numeric,
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
  IF paid IS NOT TRUE OR EXISTS (SELECT FROM reservation WHERE tenant = wanted
      AND (reprice OR covered_until < at + interval '5 minutes' AND covered_until < ends_at)) THEN
    RETURN false;
  END IF;
  UPDATE budget SET reserved = reserved + needed WHERE id = ANY (payers);
  INSERT INTO reservation
      (sandbox, tenant, currency, charge_per_hour, held, covered_until, ends_at, subject)
    VALUES (box, wanted, money, rate, needed, at + covers, at + lives, what);
  RETURN true;
END $$;
