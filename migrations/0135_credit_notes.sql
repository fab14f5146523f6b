-- What an issued invoice asked too much, taken back. The invoice itself stays as it is.
CREATE TABLE credit_note (
  id text PRIMARY KEY CHECK (id ~ '^cn[a-z0-9]{24}$'),
  invoice text NOT NULL,
  amount numeric NOT NULL CHECK (amount > 0),
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX credit_note_of_invoice ON credit_note (invoice);
CREATE TRIGGER credit_note_is_a_fact BEFORE UPDATE OR DELETE ON credit_note
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER credit_note_stays BEFORE TRUNCATE ON credit_note
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
REVOKE UPDATE, DELETE, TRUNCATE ON credit_note FROM PUBLIC, CURRENT_USER;
