#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// One event of the log.
struct Event {
  int64_t position = 0;  // grows in reading order; gaps have no meaning
  std::string id;  // "ev…"; the same in every delivery
  std::optional<TenantId> tenant;  // empty: visible to all (a shared deployment)
  std::string type;  // "sandbox.running"
  std::string subject;  // "sandboxes/sb…", "budgets/<name>", "deployments/<name>"
  Time at;
  Json data;
};

// CloudEvents 1.0 in JSON, as sent to streams and webhooks.
Json to_json(const Event& event);

// All event types.
const std::vector<std::string>& event_types();
// Whether a filter, a type or a prefix followed by '*', matches any event type.
bool is_event_filter(std::string_view text);

}  // namespace sandgate
