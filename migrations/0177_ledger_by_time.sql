-- The transfers of a time lie between two ids, which are looked up by this.
CREATE INDEX ledger_transfer_by_time ON ledger_transfer (at);
