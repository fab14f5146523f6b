#include "providers/runloop/runloop_wire.hpp"

namespace sandgate::runloop {
namespace {

int64_t even(int64_t value) { return value + value % 2; }

constexpr int64_t kHalfACore = 500, kMibPerGb = 1024;
constexpr int64_t kMinGbPerCore = 2, kMaxGbPerCore = 8;

Json to_size(const Resources& size) {
  const bool half = size.milli_vcpu == kHalfACore;
  return {{"resource_size_request", "CUSTOM_SIZE"},
          {"custom_cpu_cores", half ? Json(0.5) : Json(size.milli_vcpu / 1000)},
          {"custom_gb_memory", size.memory_mib / kMibPerGb},
          {"custom_disk_size", size.disk_gib}};
}

}  // namespace

Resources granted(const Resources& asked) {
  const int64_t asked_gb = in_units(asked.memory_mib, kMibPerGb);
  const int64_t memory = asked_gb <= 1 ? 1 : even(asked_gb);
  // As many half cores as the processors need, and as the memory needs.
  const int64_t halves =
      std::max(in_units(asked.milli_vcpu, kHalfACore), in_units(memory, kMaxGbPerCore / 2));
  const int64_t cores = halves <= 2 ? 1 : even(in_units(halves, 2));
  const bool half = halves <= 1;
  Resources size = asked;
  size.milli_vcpu = half ? kHalfACore : cores * 1000;
  size.memory_mib = std::max(half ? 1 : kMinGbPerCore * cores, memory) * kMibPerGb;
  size.disk_gib = std::max<int64_t>(2, even(asked.disk_gib));
  return size;
}

Json to_create(const CreateSpec& spec, const CreateRules& rules) {
  const bool deny = spec.network.fallback == NetworkDefault::deny;
  if (!spec.network.allow.empty() || (deny && rules.deny_policy.empty()))
    throw Error(ErrorCode::unsupported, "runloop has no such network policy");
  Json metadata = spec.metadata;
  put_tags(metadata, spec.sandbox_id, spec.installation);
  Json launch = to_size(granted(spec.resources));
  launch["keep_alive_time_seconds"] = std::max<int64_t>(spec.ttl.count(), rules.keep_alive_seconds);
  if (deny) launch["network_policy_id"] = rules.deny_policy;
  Json body{{"name", spec.sandbox_id},
            {"metadata", std::move(metadata)},
            {"environment_variables", spec.env},
            {"launch_parameters", std::move(launch)}};
  const std::string& blueprint = spec.image.empty() ? rules.blueprint : spec.image;
  if (!spec.snapshot.empty())
    body["snapshot_id"] = spec.snapshot;
  else if (!blueprint.empty())
    body["blueprint_name"] = blueprint;
  return body;
}

Box to_box(const Json& document) {
  return reading("runloop", [&] {
    Box box;
    box.sandbox.backend_id = document.at("id").get<std::string>();
    read_tags(field_of(document, "metadata"), box.sandbox);
    box.sandbox.isolation = Isolation::microvm;
    box.sandbox.created_at = time_of(document, "create_time_ms");
    const std::string status = document.at("status").get<std::string>();
    box.running = status == "running";
    box.suspended = status == "suspended";
    if (status == "shutdown" || status == "failure") box.sandbox.state = BackendState::gone;
    if (status == "suspended" || status == "suspending") {
      box.sandbox.state = BackendState::paused;
      box.sandbox.kept = Keeps::disk;
    }
    return box;
  });
}

SandboxPage to_page(const Json& document) {
  SandboxPage page;
  for (const Json& item : list_of("runloop", document, "devboxes"))
    page.sandboxes.push_back(to_box(item).sandbox);
  if (!page.sandboxes.empty() && document.value("has_more", Json()) == true)
    page.next = next_query("starting_after", page.sandboxes.back().backend_id);
  return page;
}

BackendSnapshot to_snapshot(const Json& document) {
  const Json id = field_of(document, "id");
  if (!id.is_string()) throw unexpected_answer("runloop");
  const Json size = document.value("size_bytes", Json());
  return {.backend_id = id.get<std::string>(),
          .kept = Keeps::disk,
          .size_bytes = size.is_number_integer() ? size.get<int64_t>() : 0};
}

std::optional<std::string> to_output(const ServerEvent& event) {
  const Json data = parse_record(event.data);
  if (event.name == "error") throw unexpected_answer("runloop");
  std::string output = text_of(data, "output");
  if (output.empty()) return std::nullopt;
  return output;
}

std::optional<int> to_status(const Json& execution) {
  if (!execution.is_object()) throw unexpected_answer("runloop");
  if (text_of(execution, "status") != "completed") return std::nullopt;
  return exit_status_of(execution, "exit_status");
}

}  // namespace sandgate::runloop
