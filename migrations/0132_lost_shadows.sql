-- What became of a shadow whose gateway died in the middle of it is known to nobody.
ALTER TABLE shadow
  DROP CONSTRAINT shadow_outcome_check,
  ADD CHECK (outcome IN ('running', 'created', 'failed', 'refused', 'unknown'));
CREATE INDEX shadow_running ON shadow (created_at) WHERE outcome = 'running';
