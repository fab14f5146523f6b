#pragma once
#include <atomic>
#include <cstdint>

#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Repeats the placement of a share of creates under their shadow version. The sandbox it makes is
// killed at once and not charged; its decision, attempts and times are stored beside the create. A
// sandbox that cannot be killed is an orphan for the reconciler.
class Shadowing {
 public:
  explicit Shadowing(Lifecycle& lifecycle) : lifecycle_(lifecycle), parts_(lifecycle.parts()) {}

  // Starts shadowing the create of `sandbox` in the background. No effect for orders without a
  // shadow and for restores, which only one deployment can serve. This object must outlive the
  // work.
  void follow(const CreateOrder& order, const SandboxId& sandbox);

 private:
  struct Run;  // one shadow placement

  Task<void> carry_out(Run run);
  Task<void> place_run(Run& run);

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
  std::atomic<int> under_way_{0};
};

// Sets shadows begun over 15 minutes ago, with the time moved ahead by `ahead`, to `unknown`: their
// gateway crashed. Returns how many.
size_t close_lost_shadows(pqxx::work& tx, std::chrono::milliseconds ahead);
// {version, outcome, decision} of the shadow of a sandbox's create; empty when it had none.
std::optional<Json> find_shadow(pqxx::work& tx, const SandboxId& sandbox);
// Those of the ids that belong to shadow sandboxes.
std::vector<std::string> shadows_among(pqxx::work& tx, const std::vector<std::string>& ids);

}  // namespace sandgate
