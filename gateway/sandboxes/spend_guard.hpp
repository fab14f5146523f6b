#pragma once
#include <set>
#include <string>

#include <pqxx/pqxx>

#include "billing/set_aside.hpp"
#include "gateway/sandboxes/record.hpp"

namespace sandgate {

// What a sandbox is going to be charged.
struct PlannedCharge {
  std::optional<Money> per_hour;  // empty: no price known
  std::optional<RunCharge> most;  // in that currency, of one that begins; empty: by the rate alone
  std::set<std::string> other_currencies;  // that something of it is charged in
};

// The seam to budgets: asked inside the transactions that start and end spending.
class SpendGuard {
 public:
  virtual ~SpendGuard() = default;

  // Before the intention: sets aside what the sandbox may come to cost at most on any of its
  // planned deployments (empty: no price known). True when something was set aside, so that the
  // real price is to be told by adjust(). Throws Error(budget_exceeded).
  virtual bool reserve(pqxx::work& tx, const SandboxRecord& sandbox,
                       const PlannedCharge& charge) = 0;
  // Placed or paused: the real price is known; `most` of one that begins, as in PlannedCharge.
  virtual void adjust(pqxx::work& tx, const SandboxRecord& sandbox,
                      const std::optional<RunCharge>& most) = 0;
  // Goes on for longer. Throws Error(budget_exceeded).
  virtual void extend(pqxx::work& tx, const SandboxRecord& sandbox) = 0;
  // Ended, or never began: gives back what is left. Idempotent.
  virtual void settle(pqxx::work& tx, const SandboxId& id) = 0;
};

}  // namespace sandgate
