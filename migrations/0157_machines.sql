-- The machines on which gateways run sandboxes, by the names in backend ids ("sb...@name"), and when
-- the gateway of each last wrote that it is there.
CREATE TABLE machine (
  name text PRIMARY KEY,
  seen_at timestamptz NOT NULL
);

-- Gateways of the release before do not write it: they have a day to be replaced.
INSERT INTO machine (name, seen_at)
  SELECT DISTINCT split_part(backend_id, '@', 2), now() + interval '1 day'
  FROM sandbox WHERE ended_at IS NULL AND backend_id LIKE id || '@%';
