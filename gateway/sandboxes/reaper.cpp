#include "gateway/sandboxes/reaper.hpp"

#include <algorithm>

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/placement/certainty.hpp"
#include "gateway/sandboxes/orphans.hpp"
#include "gateway/sandboxes/pause_rows.hpp"
#include "gateway/sandboxes/shadowing.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kLease{30};
constexpr std::chrono::seconds kLookPatience{20};
// Who does not answer may yet pause it: a few tries' time.
constexpr std::chrono::seconds kPauseGrace{30};
constexpr int kAllThereAre = 100'000;
// What other gateways take to hear that one is to be paused, and to write that they use it.
constexpr std::chrono::milliseconds kTimeToTell{300};

// The time as tests may shift it; $1 of stop_where.
const std::string kNow = "now() + make_interval(secs => $1 / 1000.0)";
// Rows lag behind use by Activity::flush_lag, and a second for the flush itself.
const std::string kIdleSince =
    "last_active_at + make_interval(secs => idle_timeout_seconds + 1 +"
    " least(5, greatest(1, idle_timeout_seconds / 4.0)))";
const std::string kIdle = "idle_timeout_seconds > 0 AND " + kIdleSince + " <= " + kNow;
const std::string kPausedIdle = "on_idle = 'pause' AND " + kIdle;
const std::string kKilledIdle = "on_idle = 'kill' AND " + kIdle;

// Where the charge of one ends that is taken for `reason`: who comes late does so at the gateway's
// cost. Empty: now.
std::optional<Time> due_at(pqxx::work& tx, const SandboxRecord& record, const std::string& reason) {
  if (reason == "expired") return record.expires_at;
  if (reason != "idle") return std::nullopt;
  static const std::string kSql = "SELECT (extract(epoch FROM " + kIdleSince +
                                  ") * 1000000)::bigint FROM sandbox WHERE id = $1";
  return from_micros(run_prepared(tx, kSql, record.id.value)[0][0].as<int64_t>());
}

}  // namespace

Task<size_t> Reaper::stop_due(std::string condition, sandbox_rows::Stop stop) {
  size_t count = 0;
  for (; count < static_cast<size_t>(options_.batch); ++count) {
    // One a transaction: two would lock one's meter after the other's budgets, against the order.
    auto work = [this, condition, stop](pqxx::work& tx) {
      auto taken = sandbox_rows::stop_where(tx, condition, stop, 1, options_.ahead);
      for (const SandboxRecord& record : taken) {
        lifecycle_.end_charge(tx, record.id, due_at(tx, record, stop.reason));
      }
      return taken;
    };
    auto taken = co_await parts_.database.run(std::move(work));
    if (taken.empty()) break;
    bring_down_all(std::move(taken));
  }
  co_return count;
}

std::string Reaper::line_of(const TenantId& tenant, const std::string& deployment) const {
  const auto found = parts_.deployments.find(tenant, deployment);
  // Where one is that was never placed, nobody knows: a tenant's are in a line of their own.
  return found ? Errands::line_of(*found) : "unplaced/" + tenant.value;
}

void Reaper::bring_down_all(std::vector<SandboxRecord> records) {
  for (const SandboxRecord& record : records) {
    parts_.cache.forget(record.id);
    auto work = [this, record]() -> Task<void> { co_await lifecycle_.bring_down(record); };
    errands_.send(line_of(record.tenant, record.deployment), "end/" + record.id.value,
                  std::move(work));
  }
}

void Reaper::carry_out_all(std::vector<SandboxRecord> records, bool or_end) {
  for (const SandboxRecord& record : records) {
    parts_.cache.forget(record.id);
    errands_.send(line_of(record.tenant, record.deployment), "pause/" + record.id.value,
                  [this, record, or_end] { return carry_out(record, or_end); });
  }
}

Task<size_t> Reaper::expire() {
  return stop_due(
      "state IN ('running', 'pausing', 'paused', 'resuming') AND on_expiry = 'kill'"
      " AND expires_at <= " +
          kNow + " ORDER BY expires_at",
      {.reason = "expired", .lease = kLease});
}

Task<bool> Reaper::any_idle(std::string condition) {
  auto look = [this, condition](pqxx::work& tx) {
    const std::string sql =
        "SELECT id FROM sandbox WHERE state = 'running' AND " + condition + " LIMIT $2";
    std::vector<SandboxId> ids;
    for (const auto& row : run_prepared(tx, sql, options_.ahead.count(), options_.batch))
      ids.push_back(SandboxId{row[0].as<std::string>()});
    return ids;
  };
  auto ids = co_await parts_.database.run(std::move(look));
  const bool any = !ids.empty();
  if (any && options_.activity) {
    auto telling = options_.activity->tell(std::move(ids));
    co_await std::move(telling);
  }
  co_return any;
}

Task<size_t> Reaper::end_idle() {
  auto looking = any_idle(kKilledIdle);
  const bool any = co_await std::move(looking);
  if (!any) co_return 0;
  auto stopping =
      stop_due("state = 'running' AND " + kKilledIdle, {.reason = "idle", .lease = kLease});
  co_return co_await std::move(stopping);
}

Task<size_t> Reaper::pause_due() {
  auto looking = any_idle(kPausedIdle);
  co_await std::move(looking);
  auto work = [this](pqxx::work& tx) {
    auto taken = sandbox_rows::pause_where(
        tx, "(on_expiry = 'pause' AND expires_at <= " + kNow + " OR " + kPausedIdle + ")",
        options_.batch, options_.ahead, kLease);
    for (const SandboxRecord& record : taken)
      if (!is_due(record))
        tx.exec_params("SELECT pg_notify($1, $2)", std::string(Activity::kAsked), record.id.value);
    return taken;
  };
  auto taken = co_await parts_.database.run(std::move(work));
  const size_t count = taken.size();
  const auto idle = std::partition(taken.begin(), taken.end(),
                                   [this](const auto& record) { return is_due(record); });
  for (auto at = idle; at != taken.end(); ++at) send_idle(*at);
  taken.erase(idle, taken.end());
  carry_out_all(std::move(taken), true);
  co_return count;
}

bool Reaper::is_due(const SandboxRecord& record) const {
  return record.on_expiry == EndAction::pause &&
         record.expires_at <= parts_.clock.now() + options_.ahead;
}

void Reaper::send_idle(const SandboxRecord& record) {
  // Whoever looks from here on sees that it is being paused, and is not seen otherwise.
  parts_.cache.forget(record.id);
  const auto taken = std::chrono::steady_clock::now();
  errands_.send(line_of(record.tenant, record.deployment), "pause/" + record.id.value,
                [this, record, taken] { return pause_unless_used(record, taken); });
}

Task<void> Reaper::pause_unless_used(SandboxRecord record,
                                     std::chrono::steady_clock::time_point taken) {
  co_await sleep_for(taken + kTimeToTell - std::chrono::steady_clock::now());
  const auto past = std::chrono::seconds(record.idle_timeout_seconds) - options_.ahead;
  const bool used = options_.activity && options_.activity->used_within(record.id, past);
  auto give_up = [this, id = record.id, used](pqxx::work& tx) {
    return sandbox_rows::set_back_in_use(tx, id, used, kPausedIdle, options_.ahead);
  };
  const bool in_use = co_await parts_.database.run(std::move(give_up));
  if (in_use)
    parts_.cache.forget(record.id);
  else
    co_await carry_out(std::move(record), true);
}

// One that cannot be paused when its time is over is ended, also when nobody knows for long whether
// it can: it may not run on.
Task<void> Reaper::carry_out(SandboxRecord record, bool or_end) {
  const SandboxId id = record.id;
  const TenantId tenant = record.tenant;
  // It may have waited in line for long: another gateway may have done it, and somebody undone it.
  auto read = [id](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  const auto now = co_await parts_.database.run(std::move(read));
  if (!now || now->state != record.state) co_return;
  auto work = pausing_.carry_out(std::move(record));
  const auto outcome = co_await attempt(std::move(work));
  const auto* error = std::get_if<Error>(&outcome);
  const bool over = now->state == SandboxState::pausing && now->on_expiry == EndAction::pause &&
                    now->expires_at + kPauseGrace < parts_.clock.now();
  if (!error || !(is_final(*error) || over)) co_return;
  log::warn("a sandbox was not paused or resumed",
            {{"sandbox", id.value}, {"reason", error->what()}});
  if (or_end || over) co_await lifecycle_.kill(tenant, id);
}

Task<size_t> Reaper::finish_pausing() { return take_half_paused(options_.batch, options_.ahead); }

Task<size_t> Reaper::take_up_pausing() {
  return take_half_paused(kAllThereAre, options_.ahead + kLease);
}

Task<size_t> Reaper::take_half_paused(int most, std::chrono::milliseconds ahead) {
  auto take = [this, most, ahead](pqxx::work& tx) {
    return sandbox_rows::take_due(tx, "state IN ('pausing', 'resuming')", options_.machine, most,
                                  kLease, ahead);
  };
  auto taken = co_await parts_.database.run(std::move(take));
  const size_t count = taken.size();
  carry_out_all(std::move(taken), false);
  co_return count;
}

Task<size_t> Reaper::clean_snapshots() {
  auto taken = co_await snapshots_.take_unfinished(options_.batch, options_.ahead);
  for (const SnapshotRecord& snapshot : taken)
    errands_.send(line_of(snapshot.tenant, snapshot.deployment), "snapshot/" + snapshot.id.value,
                  [this, snapshot] { return snapshots_.finish_removal(snapshot); });
  co_return taken.size();
}

Task<size_t> Reaper::abandon() {
  return stop_due("state = 'creating' AND lease_until <= " + kNow + " ORDER BY lease_until",
                  {.reason = "failed",
                   .failure = SandboxFailure{"internal", "the gateway stopped while creating it"},
                   .lease = kLease});
}

Task<size_t> Reaper::finish() {
  auto taken = co_await parts_.database.run([this](pqxx::work& tx) {
    return sandbox_rows::take_due(tx, "state = 'stopping'", options_.machine, options_.batch,
                                  kLease, options_.ahead);
  });
  const size_t count = taken.size();
  bring_down_all(std::move(taken));
  co_return count;
}

Task<bool> Reaper::find_out(sandbox_rows::OpenAttempt open) {
  const auto deployment = parts_.deployments.find(open.tenant, open.deployment);
  if (!deployment) co_return open.last_look;
  const auto found = co_await deployment->backend->find_by_tag(open.sandbox.value);
  if (!found) co_return open.last_look;
  auto read = [id = open.sandbox](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  const auto record = co_await parts_.database.run(std::move(read));
  // It may be what another deployment of the same account made later.
  const bool in_use = record && !is_ended(record->state) &&
                      is_placed_as(*record, deployment->provider, found->backend_id);
  if (in_use) co_return open.last_look;
  co_await kill_orphan(lifecycle_, deployment, *found, parts_.clock.now());
  co_return true;
}

Task<void> Reaper::look_for_orphan(sandbox_rows::OpenAttempt open) {
  auto finding = find_out(open);
  const auto outcome = co_await attempt_within(kLookPatience, std::move(finding));
  // A backend that did not answer is asked again at the attempt's next look.
  const bool* resolved = std::get_if<bool>(&outcome);
  if (!resolved || !*resolved) co_return;
  auto write = [open](pqxx::work& tx) { sandbox_rows::resolve(tx, open); };
  co_await parts_.database.run(std::move(write));
}

Task<size_t> Reaper::resolve_unknown() {
  auto taken = co_await parts_.database.run([this](pqxx::work& tx) {
    return sandbox_rows::take_open_attempts(tx, options_.batch, options_.ahead);
  });
  for (const auto& open : taken)
    errands_.send(line_of(open.tenant, open.deployment),
                  "look/" + open.sandbox.value + "/" + std::to_string(open.ordinal),
                  [this, open] { return look_for_orphan(open); });
  co_return taken.size();
}

Task<size_t> Reaper::close_shadows() {
  auto close = [this](pqxx::work& tx) { return close_lost_shadows(tx, options_.ahead); };
  co_return co_await parts_.database.run(std::move(close));
}

Task<void> Reaper::every(std::chrono::milliseconds period, Step step, const char* name) {
  while (true) {
    if (options_.hold && options_.hold()) {
      co_await sleep_for(period);
      continue;
    }
    const auto outcome = co_await attempt((this->*step)());
    if (const auto* error = std::get_if<Error>(&outcome))
      log::warn("the reaper was interrupted", {{"step", name}, {"reason", error->what()}});
    // A full batch means that more is waiting.
    const auto* count = std::get_if<size_t>(&outcome);
    const bool more = count && *count >= static_cast<size_t>(options_.batch);
    const auto pause = more ? std::chrono::milliseconds(1) : period;
    co_await sleep_for(pause);
  }
}

Task<void> Reaper::take_up_once() {
  for (;;) {
    const auto outcome = co_await attempt(take_up_pausing());
    if (!std::holds_alternative<Error>(outcome)) co_return;
    co_await sleep_for(options_.stopping_every);
  }
}

Task<void> Reaper::run() {
  using namespace asio::experimental::awaitable_operators;
  co_await (take_up_once() && every(options_.expiry_every, &Reaper::expire, "expire") &&
            every(options_.expiry_every, &Reaper::end_idle, "end_idle") &&
            every(options_.expiry_every, &Reaper::pause_due, "pause_due") &&
            every(options_.stopping_every, &Reaper::finish_pausing, "finish_pausing") &&
            every(options_.unknown_every, &Reaper::clean_snapshots, "clean_snapshots") &&
            every(options_.stopping_every, &Reaper::finish, "finish") &&
            every(options_.stopping_every, &Reaper::abandon, "abandon") &&
            every(options_.unknown_every, &Reaper::resolve_unknown, "resolve_unknown") &&
            every(options_.unknown_every, &Reaper::close_shadows, "close_shadows"));
}

}  // namespace sandgate
