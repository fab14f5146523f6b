-- Time is over for sandboxes on their way to or from a pause as well, however long that takes.
DROP INDEX sandbox_expiry;
CREATE INDEX sandbox_expiry ON sandbox (expires_at)
  WHERE state IN ('running', 'pausing', 'paused', 'resuming');
