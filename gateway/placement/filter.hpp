#pragma once
#include <vector>

#include "gateway/placement/candidate.hpp"
#include "gateway/placement/requirements.hpp"

namespace sandgate {

// Fills rejected_because with every reason that rules the deployment out: a fixed word, and after
// a colon which one where there are several ("verb_missing:pty", "control_missing:network_deny").
// Words: disabled, tenant_not_allowed, not_in_only, excluded, isolation_too_weak,
// persistence_missing, verb_missing, verb_loses_state, control_missing, network_not_enforceable,
// secrets_not_injectable, workspace_not_shown, resources_above_limit, ttl_above_limit,
// region_not_allowed, image_not_mapped, snapshot_elsewhere, price_unknown, price_above_limit; and
// the passing ones
// breaker_open, resting (it asked to be left alone) and account_limit (its account did, or does as
// much as it may). Pure.
void filter(const Requirements& requirements, std::vector<Candidate>& candidates);

}  // namespace sandgate
