#pragma once
#include <optional>

#include "gateway/core/json_reader.hpp"

namespace sandgate::compat::e2b {

// Reads E2B's rules of a sandbox's way out, the members allowOut and denyOut, and converts them
// with `internet` (allow_internet_access) to the policy of PUT /v1/sandboxes/{id}/network. Null
// when nothing is asked for. Records problems for rules that have no counterpart here: those for
// addresses, since our rules name a port, and those that deny less than all.
Json egress_rules_from(ObjectReader& reader, std::optional<bool> internet);

// The reverse: allow_internet_access as a sandbox's overrides say it, which are the members of its
// create in the v1 API. Empty if they do not. What is null there was never asked for.
std::optional<bool> internet_from(const Json& overrides);

// Whether the value is absent or empty, so that it requests nothing.
bool is_unset(const Json* value);

}  // namespace sandgate::compat::e2b
