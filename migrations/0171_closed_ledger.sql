-- What the accounts came to up to a transfer, so that balances need not add up years of entries. It
-- follows from them: emptied and set back to 0 it is made anew.
CREATE TABLE ledger_closed (
  account text NOT NULL,
  currency text NOT NULL,
  debit numeric NOT NULL,
  credit numeric NOT NULL,
  PRIMARY KEY (account, currency)
);
CREATE TABLE ledger_closing (
  sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
  through bigint NOT NULL DEFAULT 0  -- the last transfer that is in ledger_closed
);
INSERT INTO ledger_closing DEFAULT VALUES;

-- Closes transfers that are older than a day, `most` at most, and returns how many: no transaction
-- lasts so long that it could still add one with a lower id.
CREATE FUNCTION close_ledger(most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  closed bigint := (SELECT through FROM ledger_closing FOR UPDATE);
  last bigint;
  number bigint;
BEGIN
  SELECT max(id), count(*) INTO last, number FROM (SELECT id FROM ledger_transfer
    WHERE id > closed AND at < now() - interval '1 day' ORDER BY id LIMIT most) old;
  IF number = 0 THEN
    RETURN 0;
  END IF;
  INSERT INTO ledger_closed AS c (account, currency, debit, credit)
    SELECT account, currency, sum(debit), sum(credit)
    FROM ledger_transfer JOIN ledger_entry ON transfer = id
    WHERE id > closed AND id <= last AND transfer > closed AND transfer <= last
    GROUP BY 1, 2
  ON CONFLICT (account, currency)
    DO UPDATE SET debit = c.debit + excluded.debit, credit = c.credit + excluded.credit;
  UPDATE ledger_closing SET through = last;
  RETURN number;
END $$;

-- As before, and what is closed stays so.
CREATE OR REPLACE FUNCTION check_transfer_balances() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  checked bigint;
  sums record;
BEGIN
  IF TG_TABLE_NAME = 'ledger_transfer' THEN
    checked := NEW.id;
    IF checked <= (SELECT through FROM ledger_closing) THEN
      RAISE EXCEPTION 'transfer % is below what is closed', checked
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  ELSE
    checked := NEW.transfer;
    IF NOT EXISTS (SELECT FROM ledger_transfer
        WHERE id = checked AND made_by = pg_current_xact_id()) THEN
      RAISE EXCEPTION 'entry for a transfer of another transaction'
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  END IF;
  SELECT count(*) AS entries, sum(debit) AS debit, sum(credit) AS credit INTO sums
    FROM ledger_entry WHERE transfer = checked;
  IF sums.entries < 2 OR sums.debit <> sums.credit THEN
    RAISE EXCEPTION 'transfer % does not balance: debit %, credit %',
      checked, sums.debit, sums.credit USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
