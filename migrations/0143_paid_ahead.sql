-- What a reservation holds and how long that lasts are two things where a price is not by time
-- alone: a minimum is charged at once and lasts, what is included costs nothing yet. `ahead` is what
-- time at the rate is already paid for beyond what is held; negative: that much is held for a
-- create, a minimum or a step of a rounding, and not for time.
ALTER TABLE reservation ADD COLUMN ahead numeric NOT NULL DEFAULT 0;

-- As the one with ten arguments, which stays for gateways that were started before.
CREATE FUNCTION set_aside(publishing bigint, wanted text, box text, money text, rate numeric,
  needed numeric, covers interval, lives interval, what jsonb, told timestamptz, paid numeric)
RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  done boolean;
BEGIN
  done := set_aside(publishing, wanted, box, money, rate, needed, covers, lives, what, told);
  IF done AND paid <> 0 THEN
    UPDATE reservation SET ahead = paid WHERE sandbox = box;
  END IF;
  RETURN done;
END $$;
