#include "gateway/sandboxes/upkeep/reaper.hpp"

#include "gateway/core/lasting_trouble.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/creating/shadowing.hpp"
#include "gateway/sandboxes/ending/end_booking.hpp"
#include "gateway/sandboxes/upkeep/failure_limiter.hpp"
#include "gateway/sandboxes/upkeep/orphans.hpp"

namespace sandgate {
namespace {

using sandbox_rows::Due;

constexpr std::chrono::seconds kLookTimeout{20};
// After a start, or an outage of the database, for all gateways to be back and to write the use
// that rows lack.
constexpr std::chrono::seconds kTimeToReturn{5};

// End of the charge of a row that was due: a delay of the reaper is at the gateway's cost. Empty:
// now.
std::optional<Time> end_of_charge(pqxx::work& tx, const SandboxRecord& record, Due due) {
  if (due == Due::expired) return record.expires_at;
  if (due == Due::idle) return sandbox_rows::idle_since(tx, record.id);
  return std::nullopt;
}

}  // namespace

Task<std::vector<SandboxRecord>> Reaper::find_due(Ending ending, std::vector<std::string> stuck) {
  auto look = [this, ending, stuck](pqxx::work& tx) {
    return sandbox_rows::find_due(tx, ending.due, options_.batch, options_.ahead, stuck);
  };
  auto looking = parts_.database.run(std::move(look));
  co_return co_await std::move(looking);
}

Task<void> Reaper::request_use_flush(std::vector<SandboxRecord> records) {
  std::vector<SandboxId> ids;
  for (const SandboxRecord& record : records) ids.push_back(record.id);
  auto ask = [ids](pqxx::work& tx) {
    for (const SandboxId& id : ids) notify(tx, Activity::kFlushChannel, id.value);
  };
  auto asking = parts_.database.run(std::move(ask));
  co_await std::move(asking);
  if (options_.activity) {
    auto telling = options_.activity->flush_now(std::move(ids));
    co_await std::move(telling);
  }
  co_await sleep_for(kFlushGrace);
}

// One row per transaction: a second one would lock its meter after the first one's budgets, against
// the lock order.
Task<bool> Reaper::end_one(SandboxRecord due, Ending ending) {
  auto work = [this, due, ending](pqxx::work& tx) {
    // A stalled database server may run this long after the round began.
    if (options_.end_is_known && options_.end_is_known(due.id))
      return std::optional<SandboxRecord>();
    if (ending.due == Due::idle && is_used_here(due)) return std::optional<SandboxRecord>();
    auto taken = sandbox_rows::stop_if_due(tx, due.id, ending.due, ending.stop, options_.ahead);
    if (taken) end_charge(parts_, tx, due.id, end_of_charge(tx, *taken, ending.due));
    return taken;
  };
  auto working = parts_.database.run(std::move(work));
  const auto taken = co_await std::move(working);
  if (taken) finish_stopping_later(*taken);
  co_return taken.has_value();
}

Task<size_t> Reaper::end_due(Ending ending) {
  FailureLimiter failures;
  size_t count = 0;
  const Time since = ending.due == Due::idle ? judged_since() : Time();
  for (size_t known = 1; known != failures.stuck.size() && !failures.is_exhausted();) {
    known = failures.stuck.size();
    const auto due = co_await find_due(ending, failures.stuck);
    bool asked = ending.due != Due::idle;
    for (const SandboxRecord& record : due) {
      if (failures.is_blocked(record.tenant) || record.created_at < since) continue;
      if (!asked) co_await request_use_flush(due);
      asked = true;
      auto ending_it = end_one(record, ending);
      const auto outcome = co_await attempt(std::move(ending_it));
      if (const bool* ended = std::get_if<bool>(&outcome)) {
        count += *ended ? 1 : 0;
        continue;
      }
      log::warn("a sandbox that is due was not ended",
                {{"sandbox", record.id.value}, {"reason", std::get<Error>(outcome).what()}});
      failures.add(record.tenant);
      // It may have been an outage, in which the others could not write their use.
      asked = ending.due != Due::idle;
      if (!asked) co_await sleep_for(kTimeToReturn);
    }
  }
  co_return count;
}

std::string Reaper::queue_key(const TenantId& tenant, const std::string& deployment) const {
  const auto found = parts_.deployments.find(tenant, deployment);
  // The backend of a sandbox that was never placed is unknown, so each tenant has a line for these.
  return found ? KeyedWorkQueue::queue_key(*found) : "unplaced/" + tenant.value;
}

void Reaper::finish_stopping_later(SandboxRecord record) {
  parts_.cache.invalidate(record.id);
  const std::string key = queue_key(record.tenant, record.deployment);
  const std::string job = "end/" + record.id.value;
  work_queue_.post(key, job, [this, record = std::move(record)]() -> Task<void> {
    co_await lifecycle_.finish_stopping(record);
  });
}

Task<size_t> Reaper::expire() {
  return end_due({Due::expired, {.reason = "expired", .lease = kLease}});
}

Task<size_t> Reaper::end_idle() {
  return end_due({Due::idle, {.reason = "idle", .lease = kLease}});
}

Task<size_t> Reaper::clean_snapshots() {
  auto taken =
      co_await snapshots_.take_unfinished(options_.batch, options_.machine, options_.ahead);
  for (const SnapshotRecord& snapshot : taken)
    work_queue_.post(queue_key(snapshot.tenant, snapshot.deployment),
                     "snapshot/" + snapshot.id.value,
                     [this, snapshot] { return snapshots_.finish_removal(snapshot); });
  const auto unwanted = co_await snapshots_.unwanted_on(options_.machine, options_.batch);
  for (const SnapshotRecord& snapshot : unwanted)
    work_queue_.post(queue_key(snapshot.tenant, snapshot.deployment),
                     "snapshot/" + snapshot.id.value,
                     [this, snapshot] { return snapshots_.remove_early(snapshot); });
  co_return taken.size();
}

Task<size_t> Reaper::recover_snapshots() {
  // This process may have begun some before the reaper ran.
  const auto age = std::chrono::steady_clock::now() - made_;
  const Time made = parts_.clock.now() - std::chrono::duration_cast<Time::duration>(age);
  co_return co_await snapshots_.give_up_earlier(options_.machine, made);
}

Task<size_t> Reaper::abandon() {
  return end_due({Due::abandoned,
                  {.reason = "failed",
                   .failure = SandboxFailure{"internal", "the gateway stopped while creating it"},
                   .lease = kLease}});
}

Task<size_t> Reaper::finish() {
  auto taken = co_await parts_.database.run([this](pqxx::work& tx) {
    return sandbox_rows::take_unfinished(tx, sandbox_rows::Unfinished::ends, options_.machine,
                                         options_.batch, kLease, options_.ahead);
  });
  const size_t count = taken.size();
  for (SandboxRecord& record : taken) finish_stopping_later(std::move(record));
  co_return count;
}

Task<bool> Reaper::resolve_attempt(sandbox_rows::OpenAttempt open) {
  const auto deployment = parts_.deployments.find(open.tenant, open.deployment);
  if (!deployment) co_return open.last_look;
  const auto found = co_await deployment->backend->find_by_tag(open.sandbox.value);
  if (!found) co_return open.last_look;
  auto read = [id = open.sandbox](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  const auto record = co_await parts_.database.run(std::move(read));
  // A later attempt on another deployment of the same account may have made it.
  const bool in_use = record && !is_ended(record->state) &&
                      is_placed_as(*record, deployment->provider, found->backend_id);
  if (in_use) co_return open.last_look;
  co_await kill_orphan(parts_, deployment, *found, parts_.clock.now());
  co_return true;
}

Task<void> Reaper::find_orphan(sandbox_rows::OpenAttempt open) {
  auto finding = resolve_attempt(open);
  const auto outcome = co_await attempt_within(kLookTimeout, std::move(finding));
  // A backend that did not answer is asked again the next time the attempt is due.
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
    work_queue_.post(queue_key(open.tenant, open.deployment),
                     "look/" + open.sandbox.value + "/" + std::to_string(open.ordinal),
                     [this, open] { return find_orphan(open); });
  co_return taken.size();
}

Task<size_t> Reaper::close_shadows() {
  auto close = [this](pqxx::work& tx) { return close_lost_shadows(tx, options_.ahead); };
  co_return co_await parts_.database.run(std::move(close));
}

// Who has used a sandbox that was created since has been connected to the database since.
Time Reaper::judged_since() const {
  return parts_.clock.now() < started_ + kTimeToReturn ? started_ : Time();
}

Task<void> Reaper::every(std::chrono::milliseconds period, Step step, const char* name,
                         std::chrono::milliseconds rest) {
  LastingTrouble trouble;
  while (true) {
    const auto outcome = co_await attempt((this->*step)());
    if (const auto* error = std::get_if<Error>(&outcome)) {
      if (const auto left_out = trouble.met())
        log::warn("the reaper was interrupted",
                  {{"step", name}, {"reason", error->what()}, {"left_out", *left_out}});
      co_await sleep_for(rest);
    } else if (const auto lasted = trouble.over()) {
      log::info("the reaper goes on", {{"step", name}, {"after_ms", lasted->count()}});
    }
    // A full batch means that more is waiting.
    const auto* count = std::get_if<size_t>(&outcome);
    const bool more = count && *count >= static_cast<size_t>(options_.batch);
    const auto pause = more ? std::chrono::milliseconds(1) : period;
    co_await sleep_for(pause);
  }
}

Task<void> Reaper::run() {
  using namespace asio::experimental::awaitable_operators;
  started_ = parts_.clock.now();
  co_await (recover_once() && every(options_.expiry_every, &Reaper::expire, "expire") &&
            every(options_.expiry_every, &Reaper::end_idle, "end_idle", kTimeToReturn) &&
            every(options_.expiry_every, &Reaper::pause_due, "pause_due", kTimeToReturn) &&
            every(options_.stopping_every, &Reaper::finish_pausing, "finish_pausing") &&
            every(options_.unknown_every, &Reaper::clean_snapshots, "clean_snapshots") &&
            every(options_.stopping_every, &Reaper::finish, "finish") &&
            every(options_.stopping_every, &Reaper::abandon, "abandon") &&
            every(options_.unknown_every, &Reaper::resolve_unknown, "resolve_unknown") &&
            every(options_.unknown_every, &Reaper::close_shadows, "close_shadows"));
}

}  // namespace sandgate
