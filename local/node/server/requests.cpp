#include "local/node/server/requests.hpp"

#include "gateway/core/document_reader.hpp"
#include "gateway/core/network_rule.hpp"
#include "gateway/core/words.hpp"
#include "local/egress/network_json.hpp"

namespace sandgate {
namespace {

constexpr Words kBackendStateWords({Word{BackendState::running, "running"},
                                    Word{BackendState::paused, "paused"},
                                    Word{BackendState::gone, "gone"}});

Resources read_resources(ObjectReader& reader) {
  Resources wanted;
  wanted.milli_vcpu = reader.integer("milli_vcpu", 1, 1 << 24).value_or(wanted.milli_vcpu);
  wanted.memory_mib = reader.integer("memory_mib", 1, 1 << 30).value_or(wanted.memory_mib);
  wanted.disk_gib = reader.integer("disk_gib", 1, 1 << 20).value_or(wanted.disk_gib);
  wanted.processes = reader.integer("processes", 1, 1 << 20).value_or(wanted.processes);
  return wanted;
}

}  // namespace

Json to_json(const SandboxRequest& request) {
  return {{"id", request.id},
          {"tenant", request.tenant_id},
          {"image", request.image},
          {"milli_vcpu", request.resources.milli_vcpu},
          {"memory_mib", request.resources.memory_mib},
          {"disk_gib", request.resources.disk_gib},
          {"processes", request.resources.processes},
          {"ttl_seconds", request.ttl.count()},
          {"env", request.env},
          {"network", egress::network_json(request.network)},
          {"has_secrets", request.has_secrets},
          {"allow_root", request.allow_root},
          {"allow_debug", request.allow_debug},
          {"workspace", request.workspace},
          {"workspace_writable", request.workspace_writable},
          {"snapshot", request.snapshot}};
}

SandboxRequest sandbox_request_from(const Json& params) {
  DocumentReader reader(params);
  SandboxRequest request;
  request.id = reader.text("id", {1, 64}).value_or("");
  request.tenant_id = reader.text("tenant", {0, 64}).value_or("");
  request.image = reader.text("image", {1, 64}).value_or("");
  reader.require("id");
  reader.require("image");
  request.resources = read_resources(reader);
  request.ttl =
      std::chrono::seconds(reader.integer("ttl_seconds", 1, kLongestTtl.count()).value_or(600));
  request.env = reader.text_map("env", 1024, {0, 128 << 10}).value_or(request.env);
  if (const Json* network = reader.object("network"))
    request.network = valid_network_from(*network);
  request.has_secrets = reader.boolean("has_secrets").value_or(false);
  request.allow_root = reader.boolean("allow_root").value_or(false);
  request.allow_debug = reader.boolean("allow_debug").value_or(false);
  request.workspace = reader.text("workspace", {0, 4096}).value_or("");
  request.workspace_writable = reader.boolean("workspace_writable").value_or(false);
  request.snapshot = reader.text("snapshot", {0, 64}).value_or("");
  reader.finish_or_throw();
  return request;
}

NetworkPolicy valid_network_from(const Json& json) {
  NetworkPolicy network;
  try {
    network = egress::network_from(json);
  } catch (const Json::exception&) {
    throw Error::invalid("/network", "is not a policy");
  }
  for (const std::string& rule : network.allow)
    if (!network_rule_from(rule))
      throw Error::invalid("/network/allow", "holds something that is not a rule");
  return network;
}

Json to_json(const BackendSandbox& sandbox) {
  Json json{{"id", sandbox.backend_id}, {"state", kBackendStateWords.of(sandbox.state)}};
  if (sandbox.counted) json["counted"] = to_json(*sandbox.counted);
  if (sandbox.died) json["died"] = true;
  return json;
}

BackendSandbox backend_sandbox_from(const Json& json) {
  BackendSandbox sandbox;
  json.at("id").get_to(sandbox.backend_id);
  sandbox.sandbox_id = sandbox.backend_id;
  sandbox.state =
      kBackendStateWords.find(json.at("state").get<std::string>()).value_or(BackendState::gone);
  if (sandbox.state == BackendState::paused) sandbox.kept = Keeps::memory;
  sandbox.region = "local";
  if (json.contains("counted")) sandbox.counted = metrics_from(json["counted"]);
  sandbox.died = json.value("died", false);
  return sandbox;
}

BackendSandbox to_backend(const JournalRecord& record) {
  BackendSandbox sandbox;
  sandbox.backend_id = sandbox.sandbox_id = record.id;
  if (record.paused) sandbox.state = BackendState::paused;
  sandbox.region = "local";
  return sandbox;
}

Json to_json(const SandboxMetrics& metrics) {
  return {{"cpu_micros", metrics.cpu_micros},
          {"memory_used_bytes", metrics.memory_used_bytes},
          {"memory_limit_bytes", metrics.memory_limit_bytes},
          {"disk_used_bytes", metrics.disk_used_bytes},
          {"egress_bytes", metrics.egress_bytes},
          {"processes", metrics.processes},
          {"sampled_at", to_micros(metrics.sampled_at)}};
}

SandboxMetrics metrics_from(const Json& json) {
  SandboxMetrics metrics;
  json.at("cpu_micros").get_to(metrics.cpu_micros);
  json.at("memory_used_bytes").get_to(metrics.memory_used_bytes);
  json.at("memory_limit_bytes").get_to(metrics.memory_limit_bytes);
  json.at("disk_used_bytes").get_to(metrics.disk_used_bytes);
  json.at("egress_bytes").get_to(metrics.egress_bytes);
  json.at("processes").get_to(metrics.processes);
  metrics.sampled_at = from_micros(json.at("sampled_at").get<int64_t>());
  return metrics;
}

Json to_json(const BackendSnapshot& snapshot) {
  return {{"id", snapshot.backend_id}, {"size_bytes", snapshot.size_bytes}};
}

BackendSnapshot backend_snapshot_from(const Json& json) {
  return {.backend_id = json.at("id"), .kept = Keeps::disk, .size_bytes = json.at("size_bytes")};
}

BackendSnapshot to_backend(const StoredSnapshot& snapshot) {
  return {.backend_id = snapshot.id, .kept = Keeps::disk, .size_bytes = snapshot.size_bytes};
}

std::string required_text(const Json& params, const char* name) {
  auto found = params.is_object() ? params.find(name) : params.end();
  if (found == params.end() || !found->is_string()) {
    throw Error::invalid(std::string("/") + name, "is required");
  }
  return found->get<std::string>();
}

}  // namespace sandgate
