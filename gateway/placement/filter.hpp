#pragma once
#include <vector>

#include "gateway/placement/candidate.hpp"
#include "gateway/placement/requirements.hpp"

namespace sandgate {

// Fills rejected_because with every reason against the deployment: a fixed word, and after a colon
// the item where there are several ("verb_missing:pty", "control_missing:network_deny"). Words:
// disabled, tenant_not_allowed, not_in_only, excluded, isolation_too_weak, persistence_missing,
// verb_missing, verb_loses_state, control_missing, network_not_enforceable, secrets_not_injectable,
// workspace_not_shown, resources_above_limit, ttl_above_limit, region_not_allowed,
// image_not_mapped, image_not_offered (mapped to one that the backend's list lacks),
// snapshot_elsewhere, price_unknown, price_above_limit. ttl_above_limit:pause:
// the backend would end the sandbox before it is paused (see longest_ttl()). A create adds
// `budget`: the tenant's budgets cannot pay for it. Passing ones: not_reached (capabilities
// unknown), breaker_open, resting (after a Retry-After) and account_limit (the account's
// Retry-After or limits). Pure.
void filter(const Requirements& requirements, std::vector<Candidate>& candidates);

}  // namespace sandgate
