#include "gateway/sandboxes/snapshots.hpp"

#include <sstream>

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/events/outbox.hpp"
#include "gateway/placement/backend_failure.hpp"
#include "gateway/sandboxes/creating/given_env.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/uncancelled.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"
#include "registry/idempotency_effect.hpp"
#include "registry/quota.hpp"

namespace sandgate {
namespace {

// Includes snapshots that are being made.
constexpr Quota kSnapshots{"snapshots",
                           "SELECT count(*) FROM snapshot WHERE tenant = $1 AND NOT for_fork"
                           " AND state <> 'removing'",
                           100};
constexpr std::chrono::seconds kCopyLease{360};
constexpr std::chrono::seconds kForkLease{900};
constexpr std::chrono::seconds kRemovalLease{30}, kRemovalTimeout{20};
constexpr size_t kCopiesAtOnce = 8;
constexpr std::chrono::seconds kMakerTimeout{2};
constexpr std::chrono::milliseconds kMakerPause{50};

// Throws the backend's error, after the row has been updated.
Task<BackendSnapshot> make_on_backend(Lifecycle& lifecycle, DeploymentPtr deployment,
                                      std::string backend_id, SnapshotRecord wanted) {
  Database& database = lifecycle.parts().database;
  auto making =
      deployment->backend->snapshot(backend_id, wanted.id.value, wanted.kept, !wanted.for_fork);
  auto outcome = co_await attempt_within(kCopyTimeout, std::move(making));
  if (auto* made = std::get_if<BackendSnapshot>(&outcome)) co_return std::move(*made);
  const Error error = std::get<Error>(outcome);
  // A backend that did not answer may still make the snapshot.
  auto forget = [id = wanted.id, certain = is_definite_failure(error)](pqxx::work& tx) {
    certain ? snapshot_rows::erase(tx, id) : snapshot_rows::give_up(tx, id, kCopyLease);
  };
  co_await attempt(database.run(std::move(forget)));
  auto translating = translate_refusal(lifecycle, wanted.tenant, wanted.sandbox, error);
  const Error told = co_await std::move(translating);
  throw told;
}

// The effect stored with a fork's Idempotency-Key: its snapshot, and "number:id" of each copy in
// order of creation.
struct Written {
  std::string snapshot;
  std::vector<std::string> ids;
  std::map<std::string, size_t> numbers;  // by id, from 0
};

std::string mark_of(size_t number) { return std::to_string(number) + ":"; }

Written written_in(const std::string& effect) {
  Written written;
  std::istringstream words(effect);
  std::string word;
  words >> written.snapshot;
  while (words >> word) {
    const size_t colon = word.find(':');
    // Older versions wrote no number.
    const bool numbered = colon != std::string::npos;
    const std::string id = numbered ? word.substr(colon + 1) : word;
    written.numbers[id] = numbered ? std::stoul(word) : written.ids.size();
    written.ids.push_back(id);
  }
  return written;
}

Task<std::vector<SandboxRecord>> copies_of(Database& database, std::vector<std::string> ids) {
  auto read = [ids](pqxx::work& tx) { return sandbox_rows::find_all(tx, ids); };
  co_return co_await database.run(std::move(read));
}

std::vector<SandboxId> unmade_among(const std::vector<SandboxRecord>& copies) {
  std::vector<SandboxId> unmade;
  for (const SandboxRecord& copy : copies)
    if (copy.state == SandboxState::creating) unmade.push_back(copy.id);
  return unmade;
}

}  // namespace

Task<SandboxRecord> Snapshots::source(TenantId tenant, SandboxId sandbox) {
  const SandboxRecord record = co_await lifecycle_.settled(tenant, sandbox);
  if (record.state != SandboxState::running && record.state != SandboxState::paused)
    throw wrong_state(record);
  co_return record;
}

Task<SnapshotRecord> Snapshots::take(TenantId tenant, SandboxId sandbox, std::string name,
                                     Keeps requested, std::string claim) {
  const SandboxRecord record = co_await source(tenant, sandbox);
  SnapshotRecord wanted{.id = SnapshotId::make(),
                        .tenant = tenant,
                        .name = std::move(name),
                        .sandbox = sandbox,
                        .deployment = record.deployment,
                        .kept = requested,
                        .disk_gib = record.resources.disk_gib};
  auto work = [this, record, wanted, claim]() -> Task<SnapshotRecord> {
    return make(record, wanted, claim);
  };
  co_return co_await uncancelled(std::move(work));
}

Task<SnapshotRecord> Snapshots::make(SandboxRecord source, SnapshotRecord wanted,
                                     std::string claim) {
  const auto deployment = lifecycle_.deployment_of(source);
  const Verb verb = wanted.for_fork ? Verb::fork : Verb::snapshot;
  check_can(deployment->descriptor, verb,
            "the sandbox's backend cannot do this: " + std::string(to_string(verb)));
  const std::string& machine = deployment->descriptor.machine;
  check_is_here(source.id.value, source.backend_id, deployment->descriptor);
  if (!machine.empty()) wanted.backend_id = wanted.id.value + "@" + machine;
  auto intend = [wanted, claim](pqxx::work& tx) {
    mark_effect(tx, claim, wanted.id.value);
    if (!wanted.for_fork) check_quota(tx, kSnapshots, wanted.tenant.value);
    snapshot_rows::insert(tx, wanted, wanted.for_fork ? kForkLease : kCopyLease);
  };
  co_await parts_.database.run(std::move(intend));
  const BackendSnapshot made =
      co_await make_on_backend(lifecycle_, deployment, source.backend_id, wanted);
  wanted.backend_id = made.backend_id;
  wanted.kept = made.kept;
  wanted.size_bytes = made.size_bytes;
  auto keep = [wanted](pqxx::work& tx) {
    auto ready = snapshot_rows::set_ready(tx, wanted);
    if (ready && !wanted.for_fork)
      publish_sandbox_event(tx, wanted.sandbox, "snapshotted", {{"snapshot", wanted.id.value}});
    return ready;
  };
  const auto kept = co_await parts_.database.run(std::move(keep));
  if (!kept) throw Error(ErrorCode::timeout, "the snapshot took too long");
  co_return *kept;
}

Task<SnapshotRecord> Snapshots::find(TenantId tenant, SnapshotId id) {
  auto read = [tenant, id](pqxx::work& tx) { return snapshot_rows::find(tx, tenant, id); };
  const auto found = co_await parts_.database.run(std::move(read));
  if (!found) throw Error::not_found("snapshot", id.value);
  co_return *found;
}

Task<std::vector<SnapshotRecord>> Snapshots::list(snapshot_rows::Page page) {
  auto read = [page](pqxx::work& tx) { return snapshot_rows::list(tx, page); };
  co_return co_await parts_.database.run(std::move(read));
}

Task<void> Snapshots::restore_from(CreateOrder& order, SnapshotRecord snapshot,
                                   std::optional<int64_t> asked_disk_gib) {
  // Its failure would count against the deployment.
  if (is_elsewhere(snapshot))
    throw Error(ErrorCode::unavailable, "the snapshot is on the machine of another gateway");
  const auto deployment = parts_.deployments.find(snapshot.tenant, snapshot.deployment);
  apply_snapshot(order, snapshot, asked_disk_gib, deployment.get());
  auto read = [&cipher = parts_.cipher, snapshot](pqxx::work& tx) {
    return given_env::of_snapshot(tx, cipher, snapshot);
  };
  const auto inherited = co_await parts_.database.run(std::move(read));
  for (const auto& [name, value] : inherited)
    if (order.env.emplace(name, value).second) order.request.profile.env[name] = value;
}

Task<void> Snapshots::remove(TenantId tenant, SnapshotId id) {
  auto write = [tenant, id](pqxx::work& tx) {
    return snapshot_rows::set_removing(tx, tenant, id, kRemovalLease);
  };
  const auto removing = co_await parts_.database.run(std::move(write));
  if (!removing) throw Error::not_found("snapshot", id.value);
  co_await finish_removal(*removing);
}

Task<bool> Snapshots::remove_on_backend(SnapshotRecord snapshot) {
  const auto deployment = parts_.deployments.find(snapshot.tenant, snapshot.deployment);
  if (!deployment) co_return false;
  std::string backend_id = snapshot.backend_id;
  if (backend_id.empty()) {
    const auto found = co_await deployment->backend->find_snapshot(snapshot.id.value);
    if (!found) co_return true;
    backend_id = found->backend_id;
  }
  co_await deployment->backend->remove_snapshot(backend_id);
  co_return true;
}

bool Snapshots::is_elsewhere(const SnapshotRecord& snapshot) const {
  const auto deployment = parts_.deployments.find(snapshot.tenant, snapshot.deployment);
  return deployment &&
         sandgate::is_elsewhere(snapshot.id.value, snapshot.backend_id, deployment->descriptor);
}

Task<void> Snapshots::finish_removal(SnapshotRecord snapshot) {
  const SnapshotId id = snapshot.id;
  if (is_elsewhere(snapshot)) {
    auto leave = [id](pqxx::work& tx) { snapshot_rows::give_up(tx, id, std::chrono::seconds(0)); };
    co_await attempt(parts_.database.run(std::move(leave)));
    co_return;
  }
  auto removing = remove_on_backend(std::move(snapshot));
  const auto outcome = co_await attempt_within(kRemovalTimeout, std::move(removing));
  const bool* removed = std::get_if<bool>(&outcome);
  const auto* error = std::get_if<Error>(&outcome);
  const bool gone =
      removed ? *removed
              : error->code == ErrorCode::not_found || error->code == ErrorCode::unsupported;
  if (!gone) log::warn("a snapshot is still on its backend", {{"snapshot", id.value}});
  auto write = [id, gone](pqxx::work& tx) {
    gone ? snapshot_rows::erase(tx, id) : snapshot_rows::postpone(tx, id);
  };
  // If this is lost, the row stays `removing` and the reaper retries.
  co_await attempt(parts_.database.run(std::move(write)));
}

Task<std::vector<Outcome<SandboxRecord>>> Snapshots::fork(SandboxRecord source, CreateOrder order,
                                                          size_t count) {
  auto work = [this, source, order, count]() { return make_copies(source, order, count); };
  co_return co_await uncancelled(std::move(work));
}

Task<void> Snapshots::renew(SnapshotId id) {
  auto write = [id](pqxx::work& tx) { snapshot_rows::renew(tx, id, kForkLease); };
  // If this fails, the lease that earlier copies renewed may still suffice.
  co_await attempt(parts_.database.run(std::move(write)));
}

Task<std::vector<Outcome<SandboxRecord>>> Snapshots::make_copies(SandboxRecord source,
                                                                 CreateOrder order, size_t count) {
  SnapshotRecord wanted{.id = SnapshotId::make(),
                        .tenant = source.tenant,
                        .for_fork = true,
                        .sandbox = source.id,
                        .deployment = source.deployment,
                        .kept = Keeps::disk,
                        .disk_gib = source.resources.disk_gib};
  const SnapshotRecord snapshot = co_await make(source, std::move(wanted), order.claim);
  co_await restore_from(order, snapshot, std::nullopt);
  const Error not_tried(ErrorCode::internal, "not tried");
  auto copies = std::make_shared<std::vector<Outcome<SandboxRecord>>>(count, not_tried);
  std::vector<size_t> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(i);
  auto copy = [this, order, copies, used = snapshot.id](size_t i) -> Task<void> {
    if (i >= kCopiesAtOnce) co_await renew(used);
    CreateOrder one = order;
    one.copy = mark_of(i);
    auto creating = lifecycle_.create(std::move(one));
    (*copies)[i] = co_await attempt(std::move(creating));
  };
  co_await for_each_concurrent(std::move(numbers), kCopiesAtOnce, std::move(copy));
  Json made = Json::array();
  for (const auto& one : *copies)
    if (const auto* record = std::get_if<SandboxRecord>(&one)) made.push_back(record->id.value);
  auto give_up = [id = snapshot.id, source = source.id, made](pqxx::work& tx) {
    snapshot_rows::give_up(tx, id, kRemovalLease);
    if (!made.empty()) publish_sandbox_event(tx, source, "forked", {{"copies", made}});
  };
  const auto given_up = co_await attempt(parts_.database.run(std::move(give_up)));
  if (!std::holds_alternative<Error>(given_up)) co_await finish_removal(snapshot);
  co_return std::move(*copies);
}

Task<std::optional<SnapshotRecord>> Snapshots::recover(TenantId tenant, std::string made) {
  const auto id = SnapshotId::parse(made);
  if (!id) co_return std::nullopt;
  const auto limit = std::chrono::steady_clock::now() + kMakerTimeout;
  for (;;) {
    const bool late = std::chrono::steady_clock::now() > limit;
    auto look = [tenant, id = *id, late](pqxx::work& tx) {
      // The backend may still make the snapshot.
      if (late) snapshot_rows::give_up_unmade(tx, id, kCopyLease);
      return std::pair(snapshot_rows::find(tx, tenant, id), snapshot_rows::is_being_made(tx, id));
    };
    const auto [found, being_made] = co_await parts_.database.run(std::move(look));
    if (found || !being_made) co_return found;
    co_await sleep_for(kMakerPause);
  }
}

Task<std::map<size_t, SandboxRecord>> Snapshots::recover_copies(TenantId tenant, std::string made) {
  const Written written = written_in(made);
  const auto limit = std::chrono::steady_clock::now() + kMakerTimeout;
  auto copies = co_await copies_of(parts_.database, written.ids);
  while (!unmade_among(copies).empty() && std::chrono::steady_clock::now() <= limit) {
    co_await sleep_for(kMakerPause);
    copies = co_await copies_of(parts_.database, written.ids);
  }
  const std::vector<SandboxId> unmade = unmade_among(copies);
  for (const SandboxId& id : unmade) co_await lifecycle_.kill_uncharged(tenant, id);
  std::map<size_t, SandboxRecord> told;
  const OutageJournal* outage = parts_.outage;
  for (const SandboxRecord& copy : copies) {
    const bool is_disowned = copy.failure || (outage && outage->has(copy.id));
    if (!copy.backend_id.empty() && !is_disowned) told[written.numbers.at(copy.id.value)] = copy;
  }
  auto forget = [snapshot = written.snapshot](pqxx::work& tx) {
    snapshot_rows::give_up(tx, SnapshotId{snapshot}, kCopyLease);
  };
  co_await parts_.database.run(std::move(forget));
  co_return told;
}

Task<std::vector<SnapshotRecord>> Snapshots::take_unfinished(int most, std::string machine,
                                                             std::chrono::milliseconds ahead) {
  auto take = [most, machine, ahead](pqxx::work& tx) {
    return snapshot_rows::take_unfinished(tx, most, machine, kRemovalLease, ahead);
  };
  co_return co_await parts_.database.run(std::move(take));
}

Task<size_t> Snapshots::give_up_earlier(std::string machine, Time before) {
  auto write = [machine, before](pqxx::work& tx) {
    return snapshot_rows::give_up_earlier(tx, machine, before);
  };
  co_return co_await parts_.database.run(std::move(write));
}

Task<std::vector<SnapshotRecord>> Snapshots::unwanted_on(std::string machine, int most) {
  auto read = [machine, most](pqxx::work& tx) {
    return snapshot_rows::unwanted_on(tx, machine, most);
  };
  co_return co_await parts_.database.run(std::move(read));
}

Task<void> Snapshots::remove_early(SnapshotRecord unwanted) {
  auto removing = remove_on_backend(std::move(unwanted));
  co_await attempt_within(kRemovalTimeout, std::move(removing));
}

void apply_snapshot(CreateOrder& order, const SnapshotRecord& snapshot,
                    std::optional<int64_t> asked, const Deployment* deployment) {
  Profile& profile = order.request.profile;
  const auto given = [&](int64_t disk_gib) {
    Resources size = profile.resources;
    size.disk_gib = disk_gib;
    return deployment ? deployment->granted(size).disk_gib : disk_gib;
  };
  if (asked && given(*asked) != given(snapshot.disk_gib))
    throw Error::invalid("/resources/disk_gib",
                         "must be the snapshot's: " + std::to_string(snapshot.disk_gib));
  if (snapshot.disk_gib > given(max_resources(profile).disk_gib))
    throw Error::invalid("/snapshot", "its disk is larger than the profile allows");
  profile.resources.disk_gib = snapshot.disk_gib;
  order.request.snapshot = snapshot.id;
  order.request.snapshot_deployment = snapshot.deployment;
  order.snapshot_backend_id = snapshot.backend_id;
}

}  // namespace sandgate
