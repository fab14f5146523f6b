#include "billing/usage/usage_event.hpp"

#include "gateway/core/crypto.hpp"

namespace sandgate {
namespace {

// The same constant is in the tables' CHECKs.
constexpr std::string_view kNamespace = "6f1d3c52-8a0e-5b7a-9c41-2e7b5d90aa13";

std::string name_of(const UsageEvent& event) {
  std::string name = event.sandbox.value;
  name.append("|").append(to_string(event.meter)).append("|");
  name.append(std::to_string(to_micros(event.interval.from)));
  return name;
}

}  // namespace

std::string usage_event_id(const UsageEvent& event) { return uuid_v5(kNamespace, name_of(event)); }

std::string loss_event_id(const UsageEvent& event, const std::string& backend_id) {
  return uuid_v5(kNamespace, name_of(event) + "|" + backend_id);
}

}  // namespace sandgate
