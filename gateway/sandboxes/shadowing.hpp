#pragma once
#include <atomic>
#include <cstdint>

#include "gateway/sandboxes/create_order.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Places a share of the creates a second time, under the version that shadows them. What that makes
// is killed at once and billed to nobody; what is learnt (the decision, attempts, times) is kept
// beside the create. A sandbox that cannot be killed is an orphan, and ended by the sweep.
class Shadowing {
 public:
  struct Options {
    int at_once = 4;  // more are left out
  };
  explicit Shadowing(Lifecycle& lifecycle) : Shadowing(lifecycle, Options()) {}
  Shadowing(Lifecycle& lifecycle, Options options)
      : lifecycle_(lifecycle), parts_(lifecycle.parts()), options_(options) {}

  // After the create of `sandbox`; returns at once. Nothing for orders without a shadow and for
  // restores, which only one deployment can do. Must outlive what it started.
  void follow(const CreateOrder& order, const SandboxId& sandbox);
  uint64_t left_out() const { return left_out_; }

 private:
  struct Shade;  // one of them

  Task<void> cast(Shade shade);
  Task<void> place_it(Shade& shade);

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
  const Options options_;
  std::atomic<int> under_way_{0};
  std::atomic<uint64_t> left_out_{0};
};

// Notes that nobody knows what became of those whose gateway died: their time, as shifted by
// `ahead`, is over. Returns how many.
size_t close_lost_shadows(pqxx::work& tx, std::chrono::milliseconds ahead);
// {version, outcome, decision} of the shadow beside a sandbox's create; empty when it had none.
std::optional<Json> find_shadow(pqxx::work& tx, const SandboxId& sandbox);
// Those of the ids that are shadows'.
std::vector<std::string> shadows_among(pqxx::work& tx, const std::vector<std::string>& ids);

}  // namespace sandgate
