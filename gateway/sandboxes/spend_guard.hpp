#pragma once
#include <set>
#include <string>

#include <pqxx/pqxx>

#include "billing/budgets/reservation_estimate.hpp"
#include "gateway/sandboxes/rows/record.hpp"

namespace sandgate {

// The expected charge of a sandbox.
struct PlannedCharge {
  std::optional<Money> per_hour;  // empty: price unknown
  std::optional<RunCharge> max_charge;  // of a new run, in that currency
  std::set<std::string> other_currencies;  // of further charges
  bool is_crowded = false;  // of a create: others of the tenant are under way
  std::optional<int64_t> generation;  // of the prices that tell this; of a create
};

// Interface to budgets, called inside the transactions that start and end spending.
class SpendGuard {
 public:
  virtual ~SpendGuard() = default;

  // Before the intention: reserves the highest cost on any planned deployment. True when something
  // was reserved; then adjust() has to be called with the real price. Throws
  // Error(budget_exceeded).
  virtual bool reserve(pqxx::work& tx, const SandboxRecord& sandbox,
                       const PlannedCharge& charge) = 0;
  // Before a resume: reserves anew, because running costs more than being paused, for the time that
  // is left, or all of it; see begins_anew(). Throws Error(budget_exceeded).
  virtual void resume(pqxx::work& tx, const SandboxRecord& sandbox,
                      const PlannedCharge& charge) = 0;
  // After placement, with `max_charge`, when the real price is known; and after a pause, or when a
  // resume gave it more time than was reserved for.
  virtual void adjust(pqxx::work& tx, const SandboxRecord& sandbox,
                      const std::optional<RunCharge>& max_charge) = 0;
  // After the expiry was moved. Throws Error(budget_exceeded).
  virtual void extend(pqxx::work& tx, const SandboxRecord& sandbox) = 0;
  // After the end, or a failed create: releases the rest of what is reserved, but for `keep`, which
  // a last reading of the backend's counters may be charged; see Meter::close(). Idempotent.
  virtual void release(pqxx::work& tx, const SandboxId& id, const Money& keep) = 0;
};

}  // namespace sandgate
