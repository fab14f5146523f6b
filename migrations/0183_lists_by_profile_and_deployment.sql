-- Without these, who lists what a profile or deployment hardly has reads all that a tenant ever had.
CREATE INDEX sandbox_of_profile ON sandbox (tenant, profile, created_at DESC, id DESC);
CREATE INDEX sandbox_of_deployment ON sandbox (tenant, deployment, created_at DESC, id DESC);
