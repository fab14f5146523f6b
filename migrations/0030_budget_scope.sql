-- A budget may hold for a part of a tenant's sandboxes: those of a profile, made with a key, or
-- marked with metadata. `{}` holds for all.
ALTER TABLE budget ADD COLUMN applies_to jsonb NOT NULL DEFAULT '{}';

ALTER TABLE metered_sandbox ADD COLUMN key text NOT NULL DEFAULT '';

-- What a sandbox is to budgets; one holds for it when it contains what the budget applies to.
CREATE FUNCTION budget_subject(profile text, key text, metadata jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('profile', profile, 'key', key, 'metadata', metadata)
$$;

-- Kept with the reservation, so that what was set aside is given back to the same budgets.
ALTER TABLE reservation ADD COLUMN subject jsonb NOT NULL DEFAULT '{}';
UPDATE reservation r SET subject = budget_subject(m.profile, m.key, m.metadata)
  FROM metered_sandbox m WHERE m.sandbox = r.sandbox;
