-- The number that an invoice gets when it is issued: one after the other in the whole installation,
-- without gaps, since it is drawn in the transaction that issues. Those issued before have none.
CREATE TABLE invoice_number (
  sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
  last bigint NOT NULL DEFAULT 0
);
INSERT INTO invoice_number DEFAULT VALUES;

ALTER TABLE invoice
  ADD COLUMN number bigint UNIQUE CHECK (number > 0),
  ADD COLUMN tenant_name text;  -- when it was issued
ALTER TABLE invoice ADD CONSTRAINT invoice_number_of_issued
  CHECK (number IS NULL OR state = 'issued');
