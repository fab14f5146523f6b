-- Whose a sandbox on a backend is: several installations may use one account of a vendor. Backends
-- carry it beside the sandbox's id. Who copies a database gives the copy another.
CREATE TABLE installation (
  sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
  id text NOT NULL CHECK (id ~ '^[a-z0-9]{16}$')
);
INSERT INTO installation (id) VALUES (left(replace(gen_random_uuid()::text, '-', ''), 16));
