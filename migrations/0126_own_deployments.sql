-- Whether a sandbox stands on a deployment of its tenant's own, whose vendor the tenant pays itself:
-- it costs the operator nothing. What was booked before this was known stays as it was.
ALTER TABLE metered_sandbox ADD COLUMN own boolean NOT NULL DEFAULT false;
UPDATE metered_sandbox m SET own = true
  WHERE state <> 'closed'
    AND EXISTS (SELECT FROM deployment d WHERE d.tenant = m.tenant AND d.name = m.deployment);
