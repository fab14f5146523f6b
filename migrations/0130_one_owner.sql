-- A backend that answers two creates with one sandbox would have two tenants share it. Names of
-- tenants' own deployments repeat between tenants: whose it is counts as well ('': everybody's).
-- Null: not placed yet, or before this was noted.
ALTER TABLE sandbox ADD COLUMN deployment_owner text;
DROP INDEX sandbox_on_deployment;
CREATE UNIQUE INDEX sandbox_on_deployment ON sandbox (deployment, backend_id, deployment_owner)
  WHERE ended_at IS NULL;
