#include "local/node/state_verbs.hpp"

#include "local/node/requests.hpp"

namespace sandgate {
namespace {

std::string snapshot_of(const Json& params) {
  std::string id = required_text(params, "snapshot");
  if (!is_safe_name(id)) throw Error::invalid("/snapshot", "is not a snapshot's id");
  return id;
}

Json take_snapshot(Supervisor& supervisor, const Json& params) {
  const bool lasting = params.value("lasting", Json(true)) != Json(false);
  return to_json(
      to_backend(supervisor.snapshot(required_text(params, "id"), snapshot_of(params), lasting)));
}

}  // namespace

std::optional<Json> answer_state_verb(Supervisor& supervisor, const std::string& verb,
                                      const Json& params) {
  if (verb == "pause") {
    supervisor.pause(required_text(params, "id"));
    return Json::object();
  }
  if (verb == "resume") {
    supervisor.resume(required_text(params, "id"));
    return Json::object();
  }
  if (verb == "snapshot") return take_snapshot(supervisor, params);
  if (verb == "find_snapshot") {
    const auto found = supervisor.snapshots().find(snapshot_of(params));
    return found ? to_json(to_backend(*found)) : Json();
  }
  if (verb == "remove_snapshot") {
    supervisor.snapshots().remove(snapshot_of(params));
    return Json::object();
  }
  return std::nullopt;
}

bool copies_a_disk(const std::string& verb, const Json& params) {
  if (verb == "snapshot") return true;
  if (verb != "create" || !params.is_object()) return false;
  const auto snapshot = params.find("snapshot");
  return snapshot != params.end() && *snapshot != Json("");
}

std::string whose_disk(Supervisor& supervisor, const Json& params) {
  if (params.contains("tenant")) return required_text(params, "tenant");
  const auto record = supervisor.find(required_text(params, "id"));
  return record ? record->tenant_id : "";
}

}  // namespace sandgate
