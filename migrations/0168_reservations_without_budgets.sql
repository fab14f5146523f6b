-- What was set aside is forgotten with a tenant's last budget (BudgetStore::remove). What earlier
-- removals left was renewed for ever, and would count against a budget that is set later.
DELETE FROM reservation r WHERE NOT EXISTS (SELECT FROM budget b WHERE b.tenant = r.tenant);
