-- What the work of a call came to, written by the very transaction that did it: a retry after a
-- crash finds it there although no answer was kept.
ALTER TABLE idempotent_call ADD COLUMN effect text;  -- id or name of what was made
CREATE INDEX idempotent_call_running ON idempotent_call (owner) WHERE state = 'running';
