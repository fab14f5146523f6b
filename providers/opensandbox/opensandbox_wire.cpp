#include "providers/opensandbox/opensandbox_wire.hpp"

#include <algorithm>

#include "gateway/core/number_text.hpp"

namespace sandgate::opensandbox {
namespace {

constexpr int64_t kMinSeconds = 60;
constexpr std::string_view kEventData = "data:";

bool is_field_text(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= ' ' && c != 0x7F; });
}

// The error event that ends a command carries the exit status as text.
CommandEvent ended_by(const Json& event) {
  const auto status = number_from<int>(text_of(event.value("error", Json()), "evalue"));
  if (!status) throw Error(ErrorCode::unavailable, "opensandbox could not start the process");
  return {.kind = CommandEvent::ended, .status = *status};
}

}  // namespace

Json to_create(const CreateSpec& spec, const BoxRules& rules) {
  const bool deny = spec.network.fallback == NetworkDefault::deny;
  if (!spec.network.allow.empty() || (deny && !rules.egress_enforced))
    throw Error(ErrorCode::unsupported, "opensandbox has no such network policy here");
  // Metadata there must be valid labels, which ours need not be, so only our tags are sent.
  Json metadata = Json::object();
  put_tags(metadata, spec.sandbox_id, spec.installation);
  Json body{{"entrypoint", Json::array({"tail", "-f", "/dev/null"})},
            {"timeout", std::max<int64_t>(kMinSeconds, spec.ttl.count())},
            {"env", spec.env},
            {"metadata", std::move(metadata)},
            {"resourceLimits",
             {{"cpu", std::to_string(spec.resources.milli_vcpu) + "m"},
              {"memory", std::to_string(spec.resources.memory_mib) + "Mi"}}}};
  if (rules.secure_access) body["secureAccess"] = true;
  if (deny) body["networkPolicy"] = {{"defaultAction", "deny"}, {"egress", Json::array()}};
  if (!spec.snapshot.empty())
    body["snapshotId"] = spec.snapshot;
  else
    body["image"] = {{"uri", spec.image.empty() ? rules.image : spec.image}};
  return body;
}

Box to_box(const Json& document, const BoxRules& rules) {
  return reading("opensandbox", [&] {
    Box box;
    box.sandbox.backend_id = document.at("id").get<std::string>();
    read_tags(field_of(document, "metadata"), box.sandbox);
    box.sandbox.isolation = rules.isolation;
    box.sandbox.region = rules.region;
    box.sandbox.created_at = time_of(document, "createdAt");
    const std::string state = document.at("status").at("state").get<std::string>();
    box.running = state == "Running";
    box.paused = state == "Paused";
    box.failed = state == "Failed";
    if (box.failed || state == "Stopping" || state == "Terminated")
      box.sandbox.state = BackendState::gone;
    if (state == "Pausing" || box.paused) {
      box.sandbox.state = BackendState::paused;
      box.sandbox.kept = rules.paused;
    }
    return box;
  });
}

Endpoint to_endpoint(const Json& document) {
  return reading("opensandbox", [&] {
    Endpoint endpoint;
    endpoint.place = document.at("endpoint").get<std::string>();
    while (endpoint.place.ends_with('/')) endpoint.place.pop_back();
    const Json fields = document.value("headers", Json::object());
    for (const auto& [name, value] : fields.items())
      endpoint.headers.emplace_back(name, value.get<std::string>());
    bool plain = !endpoint.place.empty() && is_field_text(endpoint.place);
    for (const auto& [name, value] : endpoint.headers)
      plain = plain && !name.empty() && name.find(':') == std::string::npos &&
              is_field_text(name) && is_field_text(value);
    if (!plain) throw unexpected_answer("opensandbox");
    return endpoint;
  });
}

Snapshot to_snapshot(const Json& document) {
  return reading("opensandbox", [&] {
    Snapshot snapshot;
    snapshot.snapshot.backend_id = document.at("id").get<std::string>();
    snapshot.name = text_of(document, "name");
    const std::string state = document.at("status").at("state").get<std::string>();
    snapshot.ready = state == "Ready";
    snapshot.failed = state == "Failed" || state == "Deleting";
    return snapshot;
  });
}

bool has_next_page(const Json& document) {
  const Json pages = field_of(document, "pagination");
  return pages.is_object() && pages.value("hasNextPage", Json()) == true;
}

CommandEvent to_event(std::string_view line) {
  if (line.starts_with(kEventData)) line.remove_prefix(kEventData.size());
  const Json event = parse_record(line);
  if (!event.is_object()) return {};
  const std::string type = text_of(event, "type");
  if (type == "execution_complete") return {.kind = CommandEvent::ended};
  if (type == "error") return ended_by(event);
  if (type != "stdout") return {};
  return {.kind = CommandEvent::output, .text = text_of(event, "text")};
}

}  // namespace sandgate::opensandbox
