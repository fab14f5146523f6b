#include "gateway/sandboxes/upkeep/reconciler.hpp"

#include <algorithm>
#include <set>

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/creating/shadowing.hpp"
#include "gateway/sandboxes/ending/backend_end.hpp"
#include "gateway/sandboxes/upkeep/orphans.hpp"
#include "gateway/sandboxes/upkeep/state_alignment.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kTimeout{60};
constexpr std::chrono::milliseconds kStart{2000}, kLookAgain{50};
constexpr std::chrono::hours kUnlistedAgain{1};

// The registry's entries for listed ids.
struct Known {
  std::map<std::string, SandboxRecord> sandboxes;
  std::set<std::string> shadows;
};

Task<Known> known_among(Database& database, std::vector<std::string> ids) {
  auto read = [ids](pqxx::work& tx) {
    Known known;
    for (auto& record : sandbox_rows::find_all(tx, ids))
      known.sandboxes.emplace(record.id.value, std::move(record));
    for (auto& id : shadows_among(tx, ids)) known.shadows.insert(std::move(id));
    return known;
  };
  co_return co_await database.run(std::move(read));
}

// The backend ids of sandboxes that exist.
std::set<std::string> present_among(const std::vector<BackendSandbox>& listed) {
  std::set<std::string> there;
  for (const BackendSandbox& one : listed)
    if (one.state != BackendState::gone) there.insert(one.backend_id);
  return there;
}

// Whether it carries an id of ours and no other installation's name; installations may share an
// account.
bool may_be_ours(const BackendSandbox& listed, const std::string& installation) {
  return SandboxId::parse(listed.sandbox_id) &&
         (listed.installation.empty() || listed.installation == installation);
}

// Whether the registry has no use for a listed sandbox.
bool is_orphan(const BackendSandbox& listed, const Deployment& deployment, const Known& known) {
  const auto found = known.sandboxes.find(listed.sandbox_id);
  // Without an installation's name, an unknown id may be another installation's sandbox.
  if (found == known.sandboxes.end())
    return !listed.installation.empty() || known.shadows.contains(listed.sandbox_id) ||
           !deployment.descriptor.machine.empty();
  const SandboxRecord& record = found->second;
  if (is_ended(record.state)) return true;
  // A row without a backend id, creating or stopping, may be this sandbox's.
  if (record.backend_id.empty()) return false;
  return !is_placed_as(record, deployment.provider, listed.backend_id);
}

// Whether no row can refer to the orphan later: our own machine makes sandboxes for this gateway
// only, which knows its creates under way.
bool is_nobodys(const BackendSandbox& orphan, const Deployment& deployment, const Known& known) {
  return !deployment.descriptor.machine.empty() && !known.sandboxes.contains(orphan.sandbox_id);
}

}  // namespace

Task<std::optional<Reconciler::Result>> Reconciler::reconcile(DeploymentPtr deployment) {
  Database& database = lifecycle_.parts().database;
  // Rows before the list: every expected sandbox then existed before the list was made.
  const auto every =
      std::max<std::chrono::milliseconds>(options_.every, deployment->descriptor.min_list_interval);
  auto turn = [deployment, lease = every](pqxx::work& tx) {
    std::optional<std::vector<SandboxRecord>> expected;
    // Only this gateway checks its own machine; a lease there is of a process that crashed.
    if (!deployment->descriptor.machine.empty() ||
        sandbox_rows::acquire_lease(tx, "reconcile/" + deployment->key().text(), lease * 9 / 10))
      expected = sandbox_rows::expected_on(tx, deployment->name, deployment->tenant);
    return expected;
  };
  const auto expected = co_await database.run(std::move(turn));
  if (!expected) co_return std::nullopt;
  auto listing = deployment->backend->list();
  auto outcome = co_await attempt_within(kTimeout, std::move(listing));
  auto* listed = std::get_if<std::vector<BackendSandbox>>(&outcome);
  if (!listed) {
    log_unlisted(deployment->key(), std::get<Error>(outcome));
    co_return std::nullopt;
  }
  Result result;
  result.lost = co_await fail_lost(deployment, *listed, *expected);
  if (!deployment->descriptor.machine.empty())
    result.aligned = co_await align_states(lifecycle_, deployment, *expected, *listed);
  result.orphans_killed = co_await kill_orphans(deployment, std::move(*listed));
  co_return result;
}

Task<size_t> Reconciler::fail_lost(DeploymentPtr deployment, std::vector<BackendSandbox> listed,
                                   std::vector<SandboxRecord> expected) {
  const std::set<std::string> there = present_among(listed);
  size_t lost = 0;
  for (const SandboxRecord& record : expected) {
    if (there.contains(record.backend_id) || lifecycle_.is_ending_here(record.id)) continue;
    auto noting = note_if_gone(deployment, record);
    const auto outcome = co_await attempt(std::move(noting));
    if (const bool* is_lost = std::get_if<bool>(&outcome))
      lost += *is_lost ? 1 : 0;
    else
      log::warn("the end of a sandbox was not written",
                {{"sandbox", record.id.value}, {"reason", std::get<Error>(outcome).what()}});
  }
  co_return lost;
}

// The pages of a list may be of different moments; only a direct query is conclusive.
Task<bool> Reconciler::note_if_gone(DeploymentPtr deployment, SandboxRecord record) {
  auto finding = deployment->backend->find(record.backend_id);
  const auto outcome = co_await attempt(std::move(finding));
  const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
  if (!found || (*found && (*found)->state != BackendState::gone)) co_return false;
  const auto end =
      *found ? end_told_by(**found, record, lifecycle_.parts().clock.now()) : std::nullopt;
  if (end && !end->is_lost) {
    co_await lifecycle_.write_end(record, end->counted.sampled_at, end->counted, nullptr,
                                  end->reason);
    co_return false;
  }
  log::warn("a backend lost a sandbox",
            {{"sandbox", record.id.value}, {"deployment", deployment->name}});
  co_await lifecycle_.note_gone(record.id, "the backend does not list it any more");
  co_return true;
}

bool Reconciler::old_enough(std::chrono::steady_clock::time_point first_seen) const {
  return std::chrono::steady_clock::now() - first_seen >= options_.orphan_age;
}

Task<size_t> Reconciler::kill_orphans(DeploymentPtr deployment,
                                      std::vector<BackendSandbox> listed) {
  const std::string installation = lifecycle_.parts().installation->id();
  // Before reading rows: a create that is no longer under way by then has its row, or its end.
  const auto& optimistic_creates = *lifecycle_.parts().optimistic_creates;
  std::erase_if(listed, [&](const auto& one) {
    return !may_be_ours(one, installation) || optimistic_creates.holds(SandboxId{one.sandbox_id});
  });
  std::vector<std::string> ids;
  for (const BackendSandbox& one : listed) ids.push_back(one.sandbox_id);
  const Known known = co_await known_among(lifecycle_.parts().database, std::move(ids));
  forget_removed(first_seen_);
  const Sightings before = std::exchange(first_seen_[deployment->key()], {});
  Sightings now;
  size_t killed = 0;
  for (const BackendSandbox& one : listed) {
    if (!is_orphan(one, *deployment, known)) continue;
    const auto seen = before.find(one.backend_id);
    const auto since = seen == before.end() ? std::chrono::steady_clock::now() : seen->second;
    now.emplace(one.backend_id, since);
    if (!old_enough(since) && !is_nobodys(one, *deployment, known)) continue;
    const auto age = std::chrono::steady_clock::now() - since;
    const Time first_seen =
        lifecycle_.parts().clock.now() - std::chrono::duration_cast<std::chrono::microseconds>(age);
    // A sandbox that ended by itself leaves a remainder, which costs nothing.
    auto killing = one.state == BackendState::gone
                       ? deployment->backend->kill(one.backend_id)
                       : kill_orphan(lifecycle_.parts(), deployment, one, first_seen);
    const auto outcome = co_await attempt(std::move(killing));
    if (!std::holds_alternative<Error>(outcome)) ++killed;
  }
  first_seen_[deployment->key()] = std::move(now);
  std::set<std::string> there = present_among(listed);
  co_await book_ended_orphans(lifecycle_.parts(), deployment, std::move(there));
  co_return killed;
}

// What could not be written is tried again while the backend tells of it, and then by the sweep.
Task<void> Reconciler::note_deaths_on(DeploymentPtr deployment, std::set<std::string>& noted) {
  auto asking = deployment->backend->deaths();
  const auto outcome = co_await attempt_within(kTimeout, std::move(asking));
  const auto* died = std::get_if<std::vector<std::string>>(&outcome);
  if (!died) co_return;
  std::set<std::string> owed;
  std::copy_if(died->begin(), died->end(), std::inserter(owed, owed.end()),
               [&](const std::string& id) { return !noted.contains(id); });
  noted = {died->begin(), died->end()};
  const std::set<std::string> news = owed;
  set_unrecorded_deaths(deployment->key(), owed);
  for (const std::string& id : news) {
    auto noting = lifecycle_.note_gone(SandboxId{id}, "it ended by itself");
    const auto done = co_await attempt(std::move(noting));
    const auto* failure = std::get_if<Error>(&done);
    if (failure) noted.erase(id);
    if (failure && failure->code == ErrorCode::unavailable) continue;
    owed.erase(id);
    set_unrecorded_deaths(deployment->key(), owed);
  }
}

void Reconciler::set_unrecorded_deaths(const DeploymentKey& deployment,
                                       std::set<std::string> deaths) {
  const std::lock_guard lock(mutex_);
  unrecorded_deaths_[deployment] = std::move(deaths);
}

bool Reconciler::has_unrecorded_death(const SandboxId& id) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(unrecorded_deaths_.begin(), unrecorded_deaths_.end(),
                     [&](const auto& owed) { return owed.second.contains(id.value); });
}

// Drops the entries of deployments that were removed.
template <class Map>
void Reconciler::forget_removed(Map& map) const {
  const auto set = lifecycle_.parts().deployments.snapshot();
  std::erase_if(map, [&](const auto& one) { return !find_deployment(*set, one.first); });
}

void Reconciler::log_unlisted(const DeploymentKey& deployment, const Error& reason) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    forget_removed(unlisted_logged_);
    const auto [entry, is_first] = unlisted_logged_.try_emplace(deployment, now);
    if (!is_first && now < entry->second + kUnlistedAgain) return;
    entry->second = now;
  }
  log::warn("a backend's sandboxes cannot be listed, which is told once an hour",
            {{"deployment", deployment.text()}, {"reason", reason.what()}});
}

Task<void> Reconciler::note_deaths() {
  forget_removed(noted_deaths_);
  {
    const std::lock_guard lock(mutex_);
    forget_removed(unrecorded_deaths_);
  }
  const auto set = lifecycle_.parts().deployments.snapshot();
  for (const DeploymentPtr& deployment : *set)
    if (!deployment->descriptor.machine.empty() && deployment->descriptor.reports_final_usage)
      co_await note_deaths_on(deployment, noted_deaths_[deployment->key()]);
}

Task<void> Reconciler::note_earlier_deaths() {
  const auto own = co_await on_own_machine(kStart);
  for (const DeploymentPtr& deployment : own) {
    std::set<std::string> noted;
    if (deployment->descriptor.reports_final_usage) co_await note_deaths_on(deployment, noted);
  }
}

Task<void> Reconciler::note_earlier_ends(std::chrono::milliseconds patience) {
  const auto own = co_await on_own_machine(patience);
  for (const DeploymentPtr& deployment : own) {
    // Rows before the list, as in reconcile().
    auto read = [deployment](pqxx::work& tx) {
      return sandbox_rows::expected_on(tx, deployment->name, deployment->tenant);
    };
    const auto expected = co_await lifecycle_.parts().database.run(std::move(read));
    auto listing = deployment->backend->list();
    auto outcome = co_await attempt_within(kTimeout, std::move(listing));
    const auto* listed = std::get_if<std::vector<BackendSandbox>>(&outcome);
    if (listed) co_await fail_lost(deployment, *listed, expected);
  }
}

void Reconciler::send_for(DeploymentPtr deployment) {
  work_queue_.post(KeyedWorkQueue::queue_key(*deployment), "reconcile/" + deployment->key().text(),
                   [this, deployment]() -> Task<void> { co_await reconcile(deployment); });
}

// Which deployments are on our own machine is known once their nodes have answered. Empty after
// that patience.
Task<std::vector<DeploymentPtr>> Reconciler::on_own_machine(
    std::chrono::milliseconds patience) const {
  std::vector<DeploymentPtr> own;
  for (std::chrono::milliseconds waited{0}; own.empty() && waited < patience;
       waited += kLookAgain) {
    if (waited.count() > 0) co_await sleep_for(kLookAgain);
    const auto set = lifecycle_.parts().deployments.snapshot();
    for (const DeploymentPtr& deployment : *set)
      if (!deployment->descriptor.machine.empty()) own.push_back(deployment);
  }
  co_return own;
}

Task<void> Reconciler::run() {
  // A previous process may have crashed amid its work there.
  const auto own = co_await on_own_machine(kStart);
  for (const DeploymentPtr& deployment : own) send_for(deployment);
  while (true) {
    const auto set = lifecycle_.parts().deployments.snapshot();
    for (const DeploymentPtr& deployment : *set) {
      send_for(deployment);
      co_await sleep_for(options_.every / set->size());
    }
    if (set->empty()) co_await sleep_for(options_.every);
  }
}

}  // namespace sandgate
