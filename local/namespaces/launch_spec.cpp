#include "local/namespaces/launch_spec.hpp"

#include <nlohmann/json.hpp>

#include "gateway/core/json_text.hpp"

namespace sandgate {

using Json = nlohmann::json;

std::string to_json_text(const LaunchSpec& spec) {
  return json_text(Json{{"id_base", spec.id_base},
                        {"hostname", spec.hostname},
                        {"disk_bytes", spec.disk_bytes},
                        {"disk_inodes", spec.disk_inodes},
                        {"disk", spec.disk == DiskKind::loop ? "loop" : "memory"},
                        {"workspace", static_cast<int>(spec.workspace)},
                        {"shm_bytes", spec.shm_bytes},
                        {"cgroup_version", spec.cgroup_version},
                        {"cpu_is_limited", spec.cpu_is_limited},
                        {"env", spec.env},
                        {"allow_root", spec.allow_root},
                        {"awaits_owner", spec.awaits_owner},
                        {"user", spec.user},
                        {"home", spec.home},
                        {"uid", spec.uid},
                        {"gid", spec.gid},
                        {"workdir", spec.workdir},
                        {"single_id", spec.single_id}});
}

LaunchSpec launch_spec_from(std::string_view text) {
  Json json = Json::parse(text);
  LaunchSpec spec;
  json.at("id_base").get_to(spec.id_base);
  json.at("hostname").get_to(spec.hostname);
  json.at("disk_bytes").get_to(spec.disk_bytes);
  json.at("disk_inodes").get_to(spec.disk_inodes);
  spec.disk = json.at("disk") == "loop" ? DiskKind::loop : DiskKind::memory;
  spec.workspace = static_cast<WorkspaceKind>(json.at("workspace").get<int>());
  json.at("shm_bytes").get_to(spec.shm_bytes);
  json.at("cgroup_version").get_to(spec.cgroup_version);
  json.at("cpu_is_limited").get_to(spec.cpu_is_limited);
  json.at("env").get_to(spec.env);
  json.at("allow_root").get_to(spec.allow_root);
  json.at("awaits_owner").get_to(spec.awaits_owner);
  json.at("user").get_to(spec.user);
  json.at("home").get_to(spec.home);
  json.at("uid").get_to(spec.uid);
  json.at("gid").get_to(spec.gid);
  json.at("workdir").get_to(spec.workdir);
  json.at("single_id").get_to(spec.single_id);
  return spec;
}

std::string to_json_text(const LaunchReport& report) {
  switch (report.kind) {
    case LaunchReport::Kind::launching:
      return Json{{"launching", report.pid}}.dump();
    case LaunchReport::Kind::started:
      return Json{{"started", report.pid}}.dump();
    case LaunchReport::Kind::ready:
      return Json{{"ready", true}}.dump();
    case LaunchReport::Kind::failed:
      break;
  }
  return Json{{"failed", report.step}, {"errno", report.error_number}}.dump();
}

LaunchReport launch_report_from(std::string_view text) {
  Json json = Json::parse(text);
  if (json.contains("launching")) return {LaunchReport::Kind::launching, json["launching"], "", 0};
  if (json.contains("started")) return {LaunchReport::Kind::started, json["started"], "", 0};
  if (json.contains("ready")) return {LaunchReport::Kind::ready, 0, "", 0};
  return {LaunchReport::Kind::failed, 0, json.at("failed"), json.at("errno")};
}

}  // namespace sandgate
