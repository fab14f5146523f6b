#pragma once
#include "gateway/sandboxes/lifecycle_parts.hpp"

namespace sandgate {

// A backend's end within this time after the end of the charge counts as simultaneous: calls take
// time, and vendors bill by the second. Between a later end and the charge's lies a loss.
inline constexpr std::chrono::seconds kEndTolerance{2};

// In the transaction that sets a row stopping: ends meter and reservation at `at` (default: now).
// What a last reading may be charged stays reserved until the row ends.
void end_charge(const LifecycleParts& parts, pqxx::work& tx, const SandboxId& id,
                std::optional<Time> at = std::nullopt,
                const std::optional<Meter::Measured>& counters = std::nullopt);

// In the transaction that records that the backend ended the sandbox at `gone_at` (default: now):
// stopping -> ended. Its cost between the end of its charge and `gone_at` is booked as a loss. No
// effect on a row in another state.
void end_row(const LifecycleParts& parts, pqxx::work& tx, const SandboxId& id,
             std::optional<Time> gone_at);

}  // namespace sandgate
