#include "gateway/events/event.hpp"

#include <algorithm>

namespace sandgate {

Json to_json(const Event& event) {
  const std::string source = event.tenant ? "/v1/tenants/" + event.tenant->value : "/v1";
  return {{"specversion", "1.0"},
          {"id", event.id},
          {"source", source},
          {"type", event.type},
          {"subject", event.subject},
          {"time", to_rfc3339(event.at)},
          {"datacontenttype", "application/json"},
          {"data", event.data}};
}

const std::vector<std::string>& event_types() {
  static const std::vector<std::string> kTypes{
      "sandbox.created",     "sandbox.running", "sandbox.paused",  "sandbox.resumed",
      "sandbox.snapshotted", "sandbox.forked",  "sandbox.expired", "sandbox.killed",
      "sandbox.failed",      "budget.alert",    "budget.exceeded", "deployment.opened",
      "deployment.closed"};
  return kTypes;
}

bool is_event_filter(std::string_view text) {
  const bool open = text.ends_with('*');
  if (open) text.remove_suffix(1);
  return std::any_of(event_types().begin(), event_types().end(), [&](const std::string& type) {
    return open ? type.starts_with(text) : type == text;
  });
}

}  // namespace sandgate
