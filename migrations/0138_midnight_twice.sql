-- Where clocks go back over midnight, a day begins twice: it is its first beginning that counts. Of
-- a local time that comes twice AT TIME ZONE takes the later.
CREATE FUNCTION first_moment(local timestamp, zone text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
  SELECT min(moment) FROM (
    SELECT (local AT TIME ZONE zone) - back AS moment
    FROM unnest('{0,30 minutes,1 hour,2 hours}'::interval[]) AS back) candidates
  WHERE moment AT TIME ZONE zone = (local AT TIME ZONE zone) AT TIME ZONE zone
$$;

CREATE OR REPLACE FUNCTION budget_window_start(kind text, zone text, at timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN kind = 'total' THEN 'epoch'::timestamptz
    ELSE first_moment(date_trunc(kind, at AT TIME ZONE zone), zone) END
$$;
CREATE OR REPLACE FUNCTION budget_window_end(kind text, zone text, at timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN kind = 'total' THEN NULL
    ELSE first_moment(date_trunc(kind, at AT TIME ZONE zone) + ('1 ' || kind)::interval, zone) END
$$;
