#pragma once
#include <memory>
#include <string>

#include "gateway/placement/candidate.hpp"
#include "tests/support/fake_provider.hpp"

namespace sandgate::test {

inline const TenantId kTenant{"tnaaaaaaaaaaaaaaaaaaaaaaaa"};

inline Deployment deployment(const std::string& name) {
  auto backend = std::make_shared<FakeProvider>(name);
  return {.name = name, .provider = name, .backend = backend, .descriptor = backend->descriptor()};
}

inline Candidate candidate(Deployment one) {
  return {.deployment = std::make_shared<const Deployment>(std::move(one)),
          .price_per_hour = Decimal::parse("0.05"),
          .expected_price = Money{*Decimal::parse("0.05"), "USD"}};
}

}  // namespace sandgate::test
