#pragma once
#include "gateway/sandboxes/lifecycle_parts.hpp"
#include "gateway/sandboxes/rows/record.hpp"

// The end of a sandbox at its backend: bringing it about, and what the backend tells of it. No
// sandbox's row is written.
namespace sandgate {

// Kills the sandbox on all deployments that may hold it, in parallel, to finish within the caller's
// lease. True once certainly none has it; false when one did not answer, which is logged.
Task<bool> kill_everywhere(const LifecycleParts& parts, SandboxRecord record);

// The time at which the backend ended an unreachable sandbox by its own TTL; the sandbox cost
// nothing after it. Empty when the sandbox exists, or that is unknown.
Task<std::optional<Time>> ended_by_its_time(const LifecycleParts& parts, SandboxRecord record);

// What a backend says of the end of a sandbox that is gone.
struct KnownEnd {
  Meter::Measured counted;
  bool is_lost;  // nobody asked for its end
  std::string_view reason;  // else as SandboxRecord::ended_reason, a literal
};
// Empty: the backend's answer `gone` says nothing of the end. `now`: when it arrived.
std::optional<KnownEnd> end_told_by(const BackendSandbox& gone, const SandboxRecord& record,
                                    Time now);
// Asks the backend, where it tells of ends; empty also when it does not answer.
Task<std::optional<KnownEnd>> ask_for_end(const LifecycleParts& parts, SandboxRecord record);

}  // namespace sandgate
