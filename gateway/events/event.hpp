#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// Something that happened, as the log keeps it.
struct Event {
  int64_t position = 0;  // grows in the order in which events can be read; gaps mean nothing
  std::string id;  // "ev…"; the same wherever and however often the event is delivered
  std::optional<TenantId> tenant;  // empty: concerns everybody (a shared deployment)
  std::string type;  // "sandbox.running"
  std::string subject;  // "sandboxes/sb…", "budgets/<name>", "deployments/<name>"
  Time at;
  Json data;
};

// CloudEvents 1.0 in JSON: what streams and webhooks carry.
Json to_json(const Event& event);

// All types there are.
const std::vector<std::string>& event_types();
// Whether a filter can match any of them: a type, or the beginning of one and '*'.
bool is_event_filter(std::string_view text);

}  // namespace sandgate
