#include "gateway/compat/e2b/sandbox_view.hpp"

namespace sandgate::compat::e2b {
namespace {

// The envd version that is emulated, so that clients use no later features.
constexpr std::string_view kDataVersion = "0.5.7";
constexpr int64_t kMib = 1024 * 1024;

int64_t whole_cpus(const Resources& resources) { return (resources.milli_vcpu + 999) / 1000; }

// What the end of its time does while it runs.
EndAction end_of_time(const SandboxRecord& record) {
  return record.kill_once_resumed ? EndAction::kill : record.on_expiry;
}

Json named(const SandboxRecord& record, const std::string& domain) {
  return {{"sandboxID", record.id.value}, {"templateID", record.profile},
          {"alias", record.profile},      {"clientID", "sandgate"},
          {"envdVersion", kDataVersion},  {"domain", domain.empty() ? Json() : Json(domain)}};
}

}  // namespace

bool is_running(SandboxState state) {
  return state == SandboxState::running || state == SandboxState::resuming;
}

bool is_shown(SandboxState state) {
  return is_running(state) || state == SandboxState::pausing || state == SandboxState::paused;
}

Json sandbox_json(const SandboxRecord& record, const AccessTokens& tokens,
                  const std::string& domain) {
  Json document = named(record, domain);
  document["envdAccessToken"] = tokens.token_of(record.id);
  document["trafficAccessToken"] = tokens.traffic_token_of(record.id);
  return document;
}

Json detail_json(const SandboxRecord& record, const std::string& domain) {
  Json document = named(record, domain);
  document["state"] = is_running(record.state) ? "running" : "paused";
  document["startedAt"] = to_rfc3339(record.created_at);
  document["endAt"] = to_rfc3339(record.expires_at);
  document["cpuCount"] = whole_cpus(record.resources);
  document["memoryMB"] = record.resources.memory_mib;
  document["diskSizeMB"] = record.resources.disk_gib * 1024;
  document["metadata"] = record.metadata;
  document["lifecycle"] = {{"autoResume", record.auto_resume},
                           {"onTimeout", to_string(end_of_time(record))}};
  return document;
}

Json metrics_json(const Json& metrics, const Resources& resources) {
  const std::string sampled = metrics.at("sampled_at");
  const auto at = from_rfc3339(sampled).value_or(Time());
  return {{"timestamp", sampled},
          {"timestampUnix", to_micros(at) / 1'000'000},
          {"cpuCount", whole_cpus(resources)},
          {"cpuUsedPct", metrics.at("cpu_used_percent")},
          {"memUsed", metrics.at("memory_used_mib").get<int64_t>() * kMib},
          {"memTotal", metrics.at("memory_limit_mib").get<int64_t>() * kMib},
          {"memCache", 0},
          {"diskUsed", metrics.at("disk_used_mib").get<int64_t>() * kMib},
          {"diskTotal", resources.disk_gib * 1024 * kMib}};
}

}  // namespace sandgate::compat::e2b
