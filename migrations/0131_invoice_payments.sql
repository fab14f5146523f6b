-- Credits that came after an invoice was issued, and paid it. What was set off when it was issued
-- stands in the invoice itself.
CREATE TABLE invoice_payment (
  transfer bigint PRIMARY KEY,  -- of the ledger
  invoice text NOT NULL,
  amount numeric NOT NULL CHECK (amount > 0)
);
CREATE INDEX invoice_payment_of_invoice ON invoice_payment (invoice);
CREATE TRIGGER invoice_payment_is_a_fact BEFORE UPDATE OR DELETE ON invoice_payment
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER invoice_payment_stays BEFORE TRUNCATE ON invoice_payment
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
REVOKE UPDATE, DELETE, TRUNCATE ON invoice_payment FROM PUBLIC, CURRENT_USER;
