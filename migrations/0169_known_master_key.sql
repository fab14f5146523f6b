-- Which master key the database was sealed with: a fingerprint of it, from which the key cannot be
-- worked out. 'unknown' until a gateway that can open what is sealed here has started.
ALTER TABLE installation ADD COLUMN master_key text NOT NULL DEFAULT 'unknown'
  CHECK (master_key = 'unknown' OR master_key ~ '^[0-9a-f]{32}$');
