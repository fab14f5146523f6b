-- The trail is listed by its time. Ids are no order of time: of two changes at once, the one that got
-- its id later may have begun, or been written down, earlier.
CREATE INDEX audit_entry_by_time ON audit_entry (at, id);
CREATE INDEX audit_entry_by_tenant_and_time ON audit_entry (tenant, at, id);
CREATE INDEX audit_entry_by_object_and_time ON audit_entry (object, at, id);
DROP INDEX audit_entry_by_tenant;
DROP INDEX audit_entry_by_object;
-- When the change was written down, not when its transaction began: it may have waited for locks.
ALTER TABLE audit_entry ALTER COLUMN at SET DEFAULT clock_timestamp();
