-- Sandboxes that ended long ago are found to be removed.
CREATE INDEX sandbox_ended_at ON sandbox (ended_at) WHERE ended_at IS NOT NULL;
