#include "local/node/server/verbs.hpp"

#include <map>
#include <string_view>

#include "gateway/core/random.hpp"
#include "local/egress/network_json.hpp"
#include "local/node/machine/machine_capabilities.hpp"
#include "local/node/server/requests.hpp"
#include "local/node/storage/image_garbage.hpp"
#include "providers/provider.hpp"

namespace sandgate {
namespace {

struct VerbCall {
  const NodeSettings& settings;
  Supervisor& supervisor;
  const Json& params;

  std::string id() const { return required_text(params, "id"); }
  std::string snapshot() const {
    std::string id = required_text(params, "snapshot");
    if (!is_safe_name(id)) throw Error::invalid("/snapshot", "is not a snapshot's id");
    return id;
  }
};

// Nearly all sandboxes end sooner.
constexpr std::chrono::milliseconds kUsualEnd{100};

const Json kDone = Json::object();

namespace verbs {

// A sandbox.

Json create(const VerbCall& call) {
  return to_json(to_backend(call.supervisor.create(sandbox_request_from(call.params))));
}

Json find(const VerbCall& call) {
  const std::string id = call.id();
  if (const auto record = call.supervisor.find(id)) return to_json(to_backend(*record));
  const auto end = call.supervisor.final_usage_of(id);
  if (!end) return Json();
  return to_json(BackendSandbox{.backend_id = id,
                                .sandbox_id = id,
                                .state = BackendState::gone,
                                .counted = end->usage,
                                .died = end->died});
}

Json list(const VerbCall& call) {
  Json items = Json::array();
  for (const JournalRecord& record : call.supervisor.list())
    items.push_back(to_json(to_backend(record)));
  return items;
}

Json metrics(const VerbCall& call) { return to_json(call.supervisor.metrics(call.id())); }

Json extend(const VerbCall& call) {
  const auto ttl = call.params.find("ttl_seconds");
  if (ttl == call.params.end() || !ttl->is_number_integer())
    throw Error::invalid("/ttl_seconds", "is required");
  call.supervisor.extend(call.id(), std::chrono::seconds(ttl->get<int64_t>()));
  return kDone;
}

Json pause(const VerbCall& call) {
  call.supervisor.freezer().pause(call.id());
  return kDone;
}

Json resume(const VerbCall& call) {
  call.supervisor.freezer().resume(call.id());
  return kDone;
}

Json network(const VerbCall& call) {
  const std::string id = call.id();
  const auto record = call.supervisor.find(id);
  if (!record) throw Error::not_found("sandbox", id);
  return egress::network_json(record->network);
}

Json set_network(const VerbCall& call) {
  const std::string id = call.id();
  call.supervisor.egress().set_network(id,
                                       valid_network_from(call.params.value("network", Json())));
  return kDone;
}

Json kill(const VerbCall& call) {
  call.supervisor.kill(call.id(), kUsualEnd);
  return kDone;
}

Json deaths(const VerbCall& call) {
  return call.supervisor.died_since(SystemClock().now() - Provider::kDeathsKept);
}

Json finish(const VerbCall& call) {
  const auto counted = call.supervisor.finish(call.id(), kUsualEnd);
  return counted ? to_json(*counted) : Json();
}

// Snapshots.

Json snapshot(const VerbCall& call) {
  const bool lasting = call.params.value("lasting", Json(true)) != Json(false);
  const std::string id = call.id();
  return to_json(to_backend(call.supervisor.snapshot(id, call.snapshot(), lasting)));
}

Json find_snapshot(const VerbCall& call) {
  const std::string id = call.snapshot();
  const SnapshotStore& snapshots = call.supervisor.snapshots();
  if (const auto found = snapshots.find(id)) return to_json(to_backend(*found));
  // The caller would believe that there is none, and nobody would remove what is being made.
  if (snapshots.has_begun(id)) throw Error(ErrorCode::conflict, "the snapshot is being made");
  return Json();
}

Json remove_snapshot(const VerbCall& call) {
  call.supervisor.snapshots().remove(call.snapshot());
  return kDone;
}

// Images.

Json remove_image(const VerbCall& call) {
  const std::string name = required_text(call.params, "name");
  if (call.supervisor.image_in_use(name))
    throw Error(ErrorCode::conflict, "a sandbox or snapshot needs this image");
  call.supervisor.drop_warm(name);
  call.supervisor.images().remove(name);
  collect_images(call.settings, call.supervisor.images());
  return kDone;
}

// The machine.

Json describe(const VerbCall& call) {
  static const std::string kInstance = random_hex(8);
  Descriptor descriptor = sandgate::describe(call.supervisor.capabilities());
  for (const ImageInfo& image : call.supervisor.images().list())
    descriptor.images.insert(image.name);
  return {{"descriptor", to_json(descriptor)},
          {"workspaces", call.settings.workspaces},
          {"sandboxes", sandboxes_dir(call.settings)},
          {"instance", kInstance}};
}

Json ping(const VerbCall&) { return kDone; }

}  // namespace verbs

const std::map<std::string_view, Json (*)(const VerbCall&)> kVerbs = {
    {"create", verbs::create},
    {"find", verbs::find},
    {"list", verbs::list},
    {"metrics", verbs::metrics},
    {"extend", verbs::extend},
    {"pause", verbs::pause},
    {"resume", verbs::resume},
    {"network", verbs::network},
    {"set_network", verbs::set_network},
    {"kill", verbs::kill},
    {"finish", verbs::finish},
    {"deaths", verbs::deaths},
    {"snapshot", verbs::snapshot},
    {"find_snapshot", verbs::find_snapshot},
    {"remove_snapshot", verbs::remove_snapshot},
    {"remove_image", verbs::remove_image},
    {"describe", verbs::describe},
    {"ping", verbs::ping},
};

}  // namespace

Json answer_verb(const NodeSettings& settings, Supervisor& supervisor, const std::string& verb,
                 const Json& params) {
  const auto found = kVerbs.find(verb);
  if (found == kVerbs.end()) throw Error::invalid("/verb", "is not known");
  return found->second({settings, supervisor, params});
}

WorkClass work_class_of(const std::string& verb, const Json& params) {
  if (verb == "kill" || verb == "finish") return WorkClass::ends;
  if (verb == "snapshot") return WorkClass::copies;
  if (verb == "pause" || verb == "resume" || verb == "set_network") return WorkClass::steps;
  if (verb != "create" || !params.is_object()) return WorkClass::quick;
  const auto snapshot = params.find("snapshot");
  const bool begins_with_one = snapshot != params.end() && *snapshot != Json("");
  return begins_with_one ? WorkClass::copies : WorkClass::quick;
}

std::string tenant_of_disk(Supervisor& supervisor, const Json& params) {
  if (params.contains("tenant")) return required_text(params, "tenant");
  const auto record = supervisor.find(required_text(params, "id"));
  return record ? record->tenant_id : "";
}

}  // namespace sandgate
