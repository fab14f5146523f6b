-- Invoices: what a tenant owes for a time. A draft may be thrown away and made anew; an issued one
-- is a fact, and what comes in late for its time is on the next.
CREATE TABLE invoice (
  id text PRIMARY KEY CHECK (id ~ '^in[a-z0-9]{24}$'),
  tenant text NOT NULL,
  period_from timestamptz NOT NULL,
  period_to timestamptz NOT NULL CHECK (period_to > period_from),
  currency text NOT NULL,
  state text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'issued')),
  total numeric NOT NULL DEFAULT 0,  -- the sum of the lines' rounded amounts
  credits_applied numeric NOT NULL DEFAULT 0,
  -- The last event that was booked when it was issued; later ones are late.
  through_sequence bigint,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  issued_at timestamptz,
  CHECK ((state = 'issued') = (issued_at IS NOT NULL)),
  CHECK ((state = 'issued') = (through_sequence IS NOT NULL))
);
CREATE INDEX invoice_of_tenant ON invoice (tenant, created_at, id);

CREATE TABLE invoice_line (
  invoice text NOT NULL,
  position int NOT NULL,
  adjusts text,  -- the issued invoice whose time the usage belongs to; null: this one's
  meter text NOT NULL,
  deployment text NOT NULL,
  profile text NOT NULL,
  quantity numeric NOT NULL,
  unit_price numeric NOT NULL,
  amount_exact numeric NOT NULL,
  amount numeric NOT NULL,  -- rounded half even to the currency's minor unit, here and only here
  PRIMARY KEY (invoice, position)
);

-- Nobody issues the same time twice: at most one issued invoice covers any moment.
CREATE EXTENSION IF NOT EXISTS btree_gist;
ALTER TABLE invoice ADD CONSTRAINT invoice_issued_once EXCLUDE USING gist
  (tenant WITH =, currency WITH =, tstzrange(period_from, period_to) WITH &&)
  WHERE (state = 'issued');

CREATE FUNCTION refuse_change_of_issued_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'issued' THEN
    RAISE EXCEPTION 'invoice % is issued', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER invoice_issued_is_a_fact BEFORE UPDATE OR DELETE ON invoice
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_issued_invoice();
CREATE TRIGGER invoice_stays BEFORE TRUNCATE ON invoice
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE FUNCTION refuse_line_of_issued_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  target text := CASE TG_OP WHEN 'INSERT' THEN NEW.invoice ELSE OLD.invoice END;
BEGIN
  IF TG_OP = 'UPDATE' OR (SELECT state FROM invoice WHERE id = target) = 'issued' THEN
    RAISE EXCEPTION 'the lines of invoice % are fixed', target
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER invoice_line_of_issued_is_a_fact BEFORE INSERT OR UPDATE OR DELETE ON invoice_line
  FOR EACH ROW EXECUTE FUNCTION refuse_line_of_issued_invoice();
CREATE TRIGGER invoice_line_stays BEFORE TRUNCATE ON invoice_line
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- What a vendor says against what was booked, as it was when compared.
CREATE TABLE reconciliation (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  deployment text NOT NULL,
  period_from timestamptz NOT NULL,
  period_to timestamptz NOT NULL,
  report jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TRIGGER reconciliation_is_a_fact BEFORE UPDATE OR DELETE ON reconciliation
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
