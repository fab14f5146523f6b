-- Caches are told which transaction changed a sandbox, so that the one that holds what that wrote
-- keeps it. `sandboxes` goes on telling the id alone.
CREATE OR REPLACE FUNCTION notify_sandbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sandboxes', NEW.id),
    pg_notify('sandbox_rows',
      NEW.id || ' ' || (pg_current_xact_id()::text::numeric % 4294967296));  -- as xmin says it
  RETURN NULL;
END $$;
