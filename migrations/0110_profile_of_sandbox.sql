-- Whose profile a sandbox was made with: names repeat between the operator and tenants, and an
-- archived profile is found by its id alone. No foreign key: every create would lock the profile's
-- row, and versions are never removed. 0: unknown, of sandboxes that ended before this was kept.
ALTER TABLE sandbox ADD COLUMN profile_id bigint NOT NULL DEFAULT 0;
UPDATE sandbox s SET profile_id = coalesce((
    SELECT p.id FROM profile p JOIN profile_version v ON v.profile = p.id
    WHERE p.name = s.profile AND (p.tenant = s.tenant OR p.tenant IS NULL)
      AND v.version = s.profile_version AND v.created_at <= s.created_at
    ORDER BY p.tenant NULLS LAST LIMIT 1), 0)
  WHERE s.ended_at IS NULL;
