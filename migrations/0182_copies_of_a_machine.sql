-- Where the gateway of a machine runs: of two that have one name, one is a copy and waits. NULL: the
-- gateway is of the release before, which does not say it.
ALTER TABLE machine ADD COLUMN place text;
