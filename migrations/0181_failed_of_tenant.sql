-- Of those that ended, few failed: without this, who asks for them reads all that a tenant ever had.
CREATE INDEX sandbox_failed_of_tenant ON sandbox (tenant, created_at DESC, id DESC)
  WHERE state = 'failed';
