#pragma once
#include "gateway/sandboxes/spend_guard.hpp"

namespace sandgate::test {

// Where no budgets are kept.
class NoSpendGuard : public SpendGuard {
 public:
  bool reserve(pqxx::work&, const SandboxRecord&, const PlannedCharge&) override { return false; }
  void resume(pqxx::work&, const SandboxRecord&, const PlannedCharge&) override {}
  void adjust(pqxx::work&, const SandboxRecord&, const std::optional<RunCharge>&) override {}
  void extend(pqxx::work&, const SandboxRecord&) override {}
  void release(pqxx::work&, const SandboxId&, const Money&) override {}
};

}  // namespace sandgate::test
