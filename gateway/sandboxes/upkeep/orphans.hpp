#pragma once
#include <set>
#include <string>

#include "gateway/placement/discard_sandbox.hpp"
#include "gateway/sandboxes/lifecycle_parts.hpp"

namespace sandgate {

// Kills an orphan, a sandbox that the registry has no use for, first seen at `seen`, and books its
// cost as a loss. Throws when the database or the backend does not answer; a later call then
// completes the loss noted so far.
Task<void> kill_orphan(const LifecycleParts& parts, DeploymentPtr deployment, BackendSandbox orphan,
                       Time seen);

// Ends a sandbox that its create does not keep, as discard_sandbox() does, and books its cost as a
// loss as of an orphan: from its creation, at the size that is granted. On our own machines and a
// tenant's own deployments there is none. If the database does not answer, none is booked.
Task<void> discard_at_a_loss(const LifecycleParts& parts, UnwantedSandbox unwanted);
// The same as a function, which `parts` must outlive.
DiscardSandbox discarding_at_a_loss(const LifecycleParts& parts);

// Books the losses of orphans that were noted before a crash and are gone from the backend since.
Task<void> book_ended_orphans(const LifecycleParts& parts, DeploymentPtr deployment,
                              std::set<std::string> listed);

}  // namespace sandgate
