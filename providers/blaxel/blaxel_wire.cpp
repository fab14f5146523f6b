#include "providers/blaxel/blaxel_wire.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::blaxel {
namespace {

// The vendor's memory per core; half of the memory holds the disk.
constexpr int64_t kMibPerCore = 2048;
constexpr int64_t kMibPerDiskGib = 2048;
constexpr int64_t kMibStep = 1024;
// The vendor refuses a shorter life. Sandgate's own end comes first then.
constexpr int64_t kShortestLife = 300;

// In any other state, also one that is not known here, the sandbox exists or is being created.
bool has_ended(const std::string& status) {
  for (const char* one : {"FAILED", "DEACTIVATING", "DEACTIVATED", "DELETING", "TERMINATED"})
    if (status == one) return true;
  return false;
}

void check_network(const NetworkPolicy& policy) {
  if (policy.fallback == NetworkDefault::deny || !policy.allow.empty())
    throw Error(ErrorCode::unsupported, "blaxel has no such network policy");
}

Json envs_of(const CreateSpec& spec) {
  Json envs = Json::array();
  for (const auto& [name, value] : spec.env) envs.push_back({{"name", name}, {"value", value}});
  return envs;
}

std::string seconds_text(std::chrono::seconds time) {
  return std::to_string(std::max(kShortestLife, time.count())) + "s";
}

}  // namespace

Resources granted(const Resources& asked) {
  const int64_t least = std::max({asked.memory_mib, in_units(asked.milli_vcpu * kMibPerCore, 1000),
                                  asked.disk_gib * kMibPerDiskGib});
  Resources size = asked;
  size.memory_mib = in_units(least, kMibStep) * kMibStep;
  size.milli_vcpu = size.memory_mib * 1000 / kMibPerCore;
  return size;
}

Json to_create(const CreateSpec& spec, const CreateRules& rules) {
  check_network(spec.network);
  Json labels = Json::object();
  put_tags(labels, spec.sandbox_id, spec.installation);
  Json body{{"metadata", {{"name", spec.sandbox_id}, {"labels", std::move(labels)}}},
            {"spec",
             {{"runtime",
               {{"image", spec.image.empty() ? rules.image : spec.image},
                {"memory", granted(spec.resources).memory_mib},
                {"envs", envs_of(spec)},
                {"generation", "mk3"},
                {"ttl", seconds_text(spec.ttl)}}}}}};
  if (!rules.region.empty()) body["spec"]["region"] = rules.region;
  if (rules.snapshots) body["spec"]["runtime"]["snapshotEnabled"] = true;
  return body;
}

Json to_fork(const CreateSpec& spec) {
  check_network(spec.network);
  return {{"targetType", "sandbox"}, {"targetName", spec.sandbox_id}, {"envs", envs_of(spec)}};
}

Box to_box(const Json& document) {
  return reading("blaxel", [&] {
    Box box;
    const Json& metadata = document.at("metadata");
    box.sandbox.backend_id = metadata.at("name").get<std::string>();
    if (is_id(SandboxId::kKind, box.sandbox.backend_id))
      box.sandbox.sandbox_id = box.sandbox.backend_id;
    // A fork does not inherit labels.
    box.sandbox.installation = text_of(field_of(metadata, "labels"), kInstallationTag);
    box.sandbox.isolation = Isolation::microvm;
    box.sandbox.created_at = time_of(metadata, "createdAt");
    box.sandbox.region = text_of(document.value("spec", Json()), "region");
    box.url = text_of(metadata, "url");
    const std::string status = document.at("status").get<std::string>();
    box.running = status == "DEPLOYED";
    box.archived = status == "ARCHIVED";
    box.failed = status == "FAILED";
    if (status.ends_with("ARCHIVING") || box.archived) {
      box.sandbox.state = BackendState::paused;
      box.sandbox.kept = Keeps::disk;
    } else if (has_ended(status)) {
      box.sandbox.state = BackendState::gone;
    }
    return box;
  });
}

SandboxPage to_page(const Json& document) {
  SandboxPage page;
  for (const Json& item : list_of("blaxel", document, "data")) {
    Box box = to_box(item);
    (box.failed ? page.remains : page.sandboxes).push_back(std::move(box.sandbox));
  }
  page.next = next_query("cursor", text_of(document.value("meta", Json()), "nextCursor"));
  return page;
}

Json with_ttl(Json document, std::chrono::seconds ttl, Time now) {
  return reading("blaxel", [&] {
    const auto created = time_of(document.at("metadata"), "createdAt");
    if (created && now > *created) ttl += std::chrono::ceil<std::chrono::seconds>(now - *created);
    document.at("spec").at("runtime")["ttl"] = seconds_text(ttl);
    return document;
  });
}

Snapshot to_snapshot(const Json& document) {
  return reading("blaxel", [&] {
    Snapshot snapshot;
    snapshot.snapshot.backend_id = document.at("id").get<std::string>();
    snapshot.snapshot.kept = Keeps::memory;
    snapshot.name = text_of(document, "name");
    const std::string status = document.at("status").get<std::string>();
    snapshot.ready = status == "ready";
    snapshot.failed = status == "failed";
    return snapshot;
  });
}

Json to_start(const Command& command, const std::string& name) {
  Json body{{"command", shell::storing_status(shell::line_of(command), name)},
            {"name", name},
            {"stdin", true}};
  // The vendor keeps a sandbox awake only for a process that is followed, or with keepAlive.
  if (command.keep_on_disconnect || command.background) {
    body["keepAlive"] = true;
    body["timeout"] = 0;
  }
  return body;
}

std::optional<Output> to_output(std::string_view line) {
  const Json record = parse_record(line);
  const std::string type = text_of(record, "type");
  if (type == "truncated")
    throw Error(ErrorCode::unavailable, "blaxel lost a part of the process's output");
  if (type == "error") throw Error(ErrorCode::unavailable, "blaxel lost the process");
  if (type != "stdout" && type != "stderr") {
    if (type.empty()) throw unexpected_answer("blaxel");
    return std::nullopt;
  }
  Output output{type == "stdout" ? Channel::stdout_ : Channel::stderr_, text_of(record, "data")};
  if (text_of(record, "encoding") == "base64") {
    auto bytes = base64_decode(output.bytes);
    if (!bytes) throw unexpected_answer("blaxel");
    output.bytes = std::move(*bytes);
  }
  if (output.bytes.empty()) return std::nullopt;
  return output;
}

}  // namespace sandgate::blaxel
