-- A pause may be asked to keep the sandbox beyond its time to live. Its on_expiry is 'pause' until it
-- runs again, and 'kill' then.
ALTER TABLE sandbox ADD COLUMN kill_once_resumed boolean NOT NULL DEFAULT false;
