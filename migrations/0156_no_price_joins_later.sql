-- The prices of a version are those that it was published with: one that joined later would be in
-- force for time that is rated already. Version and entries are written by one transaction.
CREATE FUNCTION refuse_price_of_published_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM price_version
      WHERE id = NEW.version_id AND xmin = pg_current_xact_id()::xid) THEN
    RAISE EXCEPTION 'the prices of version % are fixed', NEW.version_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER price_entry_of_published_is_a_fact BEFORE INSERT ON price_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_price_of_published_version();
