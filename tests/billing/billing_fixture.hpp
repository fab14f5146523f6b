#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "billing/usage/meter.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::test {

// Throws std::bad_optional_access for what is not one.
inline Decimal dec(std::string_view text) { return Decimal::parse_printed(text).value(); }
inline Time at(std::string_view text) { return from_rfc3339(text).value(); }

// Time that moves only when told.
class ManualClock : public Clock {
 public:
  Time now() const override { return now_; }
  void advance(std::chrono::microseconds by) { now_ += by; }
  void set(std::string_view text) { now_ = from_rfc3339(text).value(); }

 private:
  Time now_ = from_rfc3339("2026-11-20T12:00:00Z").value();
};

// A migrated database with a meter on a manual clock; one tenant, provider "acme".
class BillingFixture : public ::testing::Test {
 protected:
  explicit BillingFixture(TestDatabase::Owner owner = TestDatabase::Owner::superuser);
  using Quantities = std::map<std::string, std::string>;

  SandboxId open(const Resources& resources, Json metadata = Json::object());
  void change(const SandboxId& id, MeterState state, const Resources& resources,
              const std::optional<Meter::Measured>& totals = std::nullopt);
  void close(const SandboxId& id, std::optional<Time> ended_at = std::nullopt);
  void publish(const std::string& book, const std::string& json);
  // Without the check that prices begin in the future.
  void insert_version(const std::string& book, const std::string& from, const std::string& json);
  // Sums of all events, and that the rollups say the same.
  Quantities meters();
  // Each row's fields joined by '|'.
  std::vector<std::string> rows(const std::string& sql);

  TestDatabase database;
  ManualClock clock;
  PriceBooks books{*database};
  Meter meter{books, &clock};
  TenantId tenant = TenantId::make();
};

}  // namespace sandgate::test
