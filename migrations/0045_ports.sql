-- Ports of sandboxes that are reachable from outside. Rows of ended sandboxes are swept later:
-- whoever reads one looks at the sandbox too.
CREATE TABLE port (
  sandbox text NOT NULL,
  port int NOT NULL CHECK (port BETWEEN 1 AND 65535),
  tenant text NOT NULL,
  access text NOT NULL CHECK (access IN ('token', 'public')),
  token_hash text,  -- SHA-256; the token itself is nowhere
  repeat_hash text,  -- of tenant and Idempotency-Key
  request_hash text,  -- what that key is bound to
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,  -- null: with the sandbox
  PRIMARY KEY (sandbox, port),
  CONSTRAINT port_token CHECK ((access = 'token') = (token_hash IS NOT NULL))
);
CREATE INDEX port_repeat ON port (repeat_hash) WHERE repeat_hash IS NOT NULL;

CREATE FUNCTION notify_port() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('ports', coalesce(NEW.sandbox, OLD.sandbox) || ':' ||
    coalesce(NEW.port, OLD.port));
  RETURN NULL;
END $$;

CREATE TRIGGER port_changed AFTER INSERT OR UPDATE OR DELETE ON port FOR EACH ROW
  EXECUTE FUNCTION notify_port();
