-- Holds price publication off until the transaction ends; then the time, and the newest prices. Each
-- statement of a volatile function sees what was committed before it: both are read under the lock.
CREATE FUNCTION hold_rating(publishing bigint, OUT now_micros bigint, OUT generation bigint)
VOLATILE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(publishing);
  now_micros := extract(epoch FROM clock_timestamp()) * 1000000;
  generation := coalesce((SELECT max(id) FROM price_version), 0);
END $$;
