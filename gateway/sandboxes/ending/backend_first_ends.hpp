#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "billing/usage/meter.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/sandboxes/rows/record.hpp"

namespace sandgate {

// Ends on backends that keep final counters (Descriptor::reports_final_usage): the backend ends the
// sandbox first and the row is written once afterwards, since the backend can still report the end
// after a crash. Thread-safe.
class BackendFirstEnds {
 public:
  // Whether the sandbox's backend keeps final counters.
  static bool suits(const SandboxRecord& record, const DeploymentPtr& deployment);
  // Ends the sandbox and returns its final counters. Empty: end it in steps instead.
  Task<std::optional<Meter::Measured>> finish(DeploymentPtr deployment, SandboxRecord record,
                                              const Clock& clock);

  // Marks an end under way; held until the row says so. `reason`: as SandboxRecord::ended_reason, a
  // literal.
  std::shared_ptr<void> begin(const SandboxId& id, std::string_view reason);
  // Whether an end is under way: the sandbox may be gone although its row says running.
  bool has(const SandboxId& id) const;
  // Why, by the first of those under way; empty when there is none.
  std::optional<std::string_view> reason_of(const SandboxId& id) const;
  bool is_only_one() const;  // whether exactly one end, of any sandbox, is under way
  // Returns once no end is under way, or after 5 s.
  Task<void> wait_until_over(SandboxId id) const;

 private:
  mutable std::mutex mutex_;
  std::multimap<std::string, std::string_view> under_way_;  // by id, with their reasons
};

}  // namespace sandgate
