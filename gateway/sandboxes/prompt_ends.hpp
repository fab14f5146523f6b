#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "billing/meter.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/sandboxes/record.hpp"

namespace sandgate {

// Ends at backends that count ends (Descriptor::counts_ends): there the sandbox goes first and is
// written down afterwards, once, since the backend tells whoever asks how it ended. Thread-safe.
class PromptEnds {
 public:
  // What the sandbox had counted; empty when it was not ended so, and has to be in steps.
  Task<std::optional<Meter::Measured>> finish(DeploymentPtr deployment, SandboxRecord record,
                                              const Clock& clock);

  // Held by who ends it until the row says so.
  std::shared_ptr<void> begin(const SandboxId& id);
  // Whether somebody does, so that it may be gone although its row says it runs.
  bool has(const SandboxId& id) const;
  // Returns once nobody does, or after 5 s.
  Task<void> until_over(SandboxId id) const;

 private:
  mutable std::mutex mutex_;
  std::multiset<std::string> under_way_;
};

}  // namespace sandgate
