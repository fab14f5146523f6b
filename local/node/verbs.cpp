#include "local/node/verbs.hpp"

#include <map>
#include <string_view>

#include "gateway/core/random.hpp"
#include "local/egress/network_json.hpp"
#include "local/node/image_garbage.hpp"
#include "local/node/machine_capabilities.hpp"
#include "local/node/requests.hpp"
#include "providers/provider.hpp"

namespace sandgate {
namespace {

struct Asked {
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

Json create(const Asked& asked) {
  return to_json(to_backend(asked.supervisor.create(create_order_from(asked.params))));
}

Json find(const Asked& asked) {
  const std::string id = asked.id();
  if (const auto record = asked.supervisor.find(id)) return to_json(to_backend(*record));
  const auto end = asked.supervisor.end_of(id);
  if (!end) return Json();
  return to_json(BackendSandbox{.backend_id = id,
                                .sandbox_id = id,
                                .state = BackendState::gone,
                                .counted = end->counted,
                                .died = end->died});
}

Json list(const Asked& asked) {
  Json items = Json::array();
  for (const JournalRecord& record : asked.supervisor.list())
    items.push_back(to_json(to_backend(record)));
  return items;
}

Json metrics(const Asked& asked) { return to_json(asked.supervisor.metrics(asked.id())); }

Json extend(const Asked& asked) {
  const auto ttl = asked.params.find("ttl_seconds");
  if (ttl == asked.params.end() || !ttl->is_number_integer())
    throw Error::invalid("/ttl_seconds", "is required");
  asked.supervisor.extend(asked.id(), std::chrono::seconds(ttl->get<int64_t>()));
  return kDone;
}

Json pause(const Asked& asked) {
  asked.supervisor.pause(asked.id());
  return kDone;
}

Json resume(const Asked& asked) {
  asked.supervisor.resume(asked.id());
  return kDone;
}

Json network(const Asked& asked) {
  const std::string id = asked.id();
  const auto record = asked.supervisor.find(id);
  if (!record) throw Error::not_found("sandbox", id);
  return egress::network_json(record->network);
}

Json set_network(const Asked& asked) {
  const std::string id = asked.id();
  asked.supervisor.set_network(id, valid_network_from(asked.params.value("network", Json())));
  return kDone;
}

Json kill(const Asked& asked) {
  asked.supervisor.kill(asked.id(), kUsualEnd);
  return kDone;
}

Json deaths(const Asked& asked) {
  return asked.supervisor.died_since(SystemClock().now() - Provider::kDeathsKept);
}

Json finish(const Asked& asked) {
  const auto counted = asked.supervisor.finish(asked.id(), kUsualEnd);
  return counted ? to_json(*counted) : Json();
}

// Snapshots.

Json snapshot(const Asked& asked) {
  const bool lasting = asked.params.value("lasting", Json(true)) != Json(false);
  const std::string id = asked.id();
  return to_json(to_backend(asked.supervisor.snapshot(id, asked.snapshot(), lasting)));
}

Json find_snapshot(const Asked& asked) {
  const std::string id = asked.snapshot();
  const SnapshotStore& snapshots = asked.supervisor.snapshots();
  if (const auto found = snapshots.find(id)) return to_json(to_backend(*found));
  // "None" would be believed, and what is made then belongs to nobody.
  if (snapshots.has_begun(id)) throw Error(ErrorCode::conflict, "the snapshot is being made");
  return Json();
}

Json remove_snapshot(const Asked& asked) {
  asked.supervisor.snapshots().remove(asked.snapshot());
  return kDone;
}

// Images.

Json remove_image(const Asked& asked) {
  const std::string name = required_text(asked.params, "name");
  if (asked.supervisor.image_in_use(name))
    throw Error(ErrorCode::conflict, "a sandbox or snapshot needs this image");
  asked.supervisor.drop_seats(name);
  asked.supervisor.images().remove(name);
  collect_images(asked.settings, asked.supervisor.images());
  return kDone;
}

// The machine.

Json describe(const Asked& asked) {
  static const std::string kInstance = random_hex(8);
  Descriptor descriptor = sandgate::describe(asked.supervisor.capabilities());
  for (const ImageInfo& image : asked.supervisor.images().list())
    descriptor.images.insert(image.name);
  return {{"descriptor", to_json(descriptor)},
          {"workspaces", asked.settings.workspaces},
          {"sandboxes", sandboxes_dir(asked.settings)},
          {"instance", kInstance}};
}

Json ping(const Asked&) { return kDone; }

}  // namespace verbs

const std::map<std::string_view, Json (*)(const Asked&)> kVerbs = {
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

Pace pace_of(const std::string& verb, const Json& params) {
  if (verb == "kill" || verb == "finish") return Pace::ends;
  if (verb == "snapshot") return Pace::copies;
  if (verb == "pause" || verb == "resume" || verb == "set_network") return Pace::steps;
  if (verb != "create" || !params.is_object()) return Pace::quick;
  const auto snapshot = params.find("snapshot");
  const bool begins_with_one = snapshot != params.end() && *snapshot != Json("");
  return begins_with_one ? Pace::copies : Pace::quick;
}

std::string whose_disk(Supervisor& supervisor, const Json& params) {
  if (params.contains("tenant")) return required_text(params, "tenant");
  const auto record = supervisor.find(required_text(params, "id"));
  return record ? record->tenant_id : "";
}

}  // namespace sandgate
