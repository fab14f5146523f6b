// Pauses at the end of a TTL or for idleness, and interrupted pauses and resumes.
#include <algorithm>

#include "gateway/core/log.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/placement/backend_failure.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "gateway/sandboxes/upkeep/reaper.hpp"

namespace sandgate {
namespace {

// Writing an archive takes minutes, copying a disk five, and an outage may last; but what is never
// paused must not run on for ever.
constexpr std::chrono::seconds kPauseGrace{900};
constexpr int kAllThereAre = 100'000;

}  // namespace

Task<void> Reaper::flush_use() {
  if (!options_.activity) co_return;
  auto look = [this](pqxx::work& tx) {
    return sandbox_rows::find_idle_to_pause(tx, options_.batch, options_.ahead);
  };
  auto ids = co_await parts_.database.run(std::move(look));
  auto telling = options_.activity->flush_now(std::move(ids));
  co_await std::move(telling);
}

bool Reaper::is_used_here(const SandboxRecord& record) const {
  const auto past = std::chrono::seconds(record.idle_timeout_seconds) - options_.ahead;
  return options_.activity && options_.activity->used_within(record.id, past);
}

Task<size_t> Reaper::pause_due() {
  auto telling = flush_use();
  co_await std::move(telling);
  auto work = [this](pqxx::work& tx) {
    auto taken =
        sandbox_rows::pause_due(tx, judged_since(), options_.batch, options_.ahead, kLease);
    for (const SandboxRecord& record : taken)
      if (!is_due(record)) notify(tx, Activity::kFlushChannel, record.id.value);
    return taken;
  };
  auto taken = co_await parts_.database.run(std::move(work));
  const size_t count = taken.size();
  const auto idle = std::partition(taken.begin(), taken.end(),
                                   [this](const auto& record) { return is_due(record); });
  for (auto at = idle; at != taken.end(); ++at) post_idle(*at);
  taken.erase(idle, taken.end());
  carry_out_all(std::move(taken), /*or_end=*/true);
  co_return count;
}

bool Reaper::is_due(const SandboxRecord& record) const {
  return record.on_expiry == EndAction::pause &&
         record.expires_at <= parts_.clock.now() + options_.ahead;
}

void Reaper::post_idle(const SandboxRecord& record) {
  // From here on, open() reads the new state; use that began before is recorded in Activity.
  parts_.cache.invalidate(record.id);
  const auto taken = std::chrono::steady_clock::now();
  work_queue_.post(queue_key(record.tenant, record.deployment), "pause/" + record.id.value,
                   [this, record, taken] { return pause_unless_used(record, taken); });
}

Task<void> Reaper::pause_unless_used(SandboxRecord record,
                                     std::chrono::steady_clock::time_point taken) {
  co_await sleep_for(taken + kFlushGrace - std::chrono::steady_clock::now());
  const bool used = is_used_here(record);
  auto give_up = [this, id = record.id, used](pqxx::work& tx) {
    return sandbox_rows::revert_if_used(tx, id, used, options_.ahead);
  };
  const bool in_use = co_await parts_.database.run(std::move(give_up));
  if (in_use)
    parts_.cache.invalidate(record.id);
  else
    co_await carry_out(std::move(record), /*or_end=*/true);
}

// A sandbox that cannot be paused when its TTL ends is killed, also when that stays unknown, or
// refused for now, for kPauseGrace.
Task<void> Reaper::carry_out(SandboxRecord record, bool or_end) {
  const SandboxId id = record.id;
  const TenantId tenant = record.tenant;
  // While it was queued, another gateway may have carried it out and a caller undone it.
  auto read = [id](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  const auto now = co_await parts_.database.run(std::move(read));
  if (!now || now->state != record.state) co_return;
  // A pause books up to now, which is beyond that end.
  if (options_.end_is_known && options_.end_is_known(id)) co_return;
  auto work = pausing_.carry_out(std::move(record));
  const auto outcome = co_await attempt(std::move(work));
  const auto* error = std::get_if<Error>(&outcome);
  const bool over = now->state == SandboxState::pausing && now->on_expiry == EndAction::pause &&
                    now->expires_at + kPauseGrace < parts_.clock.now();
  if (!error || !(is_permanent_failure(*error) || over)) co_return;
  log::warn("a sandbox was not paused or resumed",
            {{"sandbox", id.value}, {"reason", error->what()}});
  if (!or_end && !over) co_return;
  std::string_view reason = is_due(*now) ? "expired" : "idle";
  co_await lifecycle_.kill(tenant, id, std::nullopt, reason);
}

Task<size_t> Reaper::finish_pausing() { return take_half_paused(options_.batch, options_.ahead); }

Task<size_t> Reaper::recover_pausing() {
  return take_half_paused(kAllThereAre, options_.ahead + kLease);
}

Task<size_t> Reaper::take_half_paused(int most, std::chrono::milliseconds ahead) {
  auto take = [this, most, ahead](pqxx::work& tx) {
    return sandbox_rows::take_unfinished(tx, sandbox_rows::Unfinished::pauses, options_.machine,
                                         most, kLease, ahead);
  };
  auto taken = co_await parts_.database.run(std::move(take));
  const size_t count = taken.size();
  carry_out_all(std::move(taken), /*or_end=*/false);
  co_return count;
}

Task<void> Reaper::recover_once() {
  for (const Step step : {&Reaper::recover_pausing, &Reaper::recover_snapshots})
    for (;;) {
      auto recovering = (this->*step)();
      const auto outcome = co_await attempt(std::move(recovering));
      if (!std::holds_alternative<Error>(outcome)) break;
      co_await sleep_for(options_.stopping_every);
    }
}

void Reaper::carry_out_all(std::vector<SandboxRecord> records, bool or_end) {
  for (const SandboxRecord& record : records) {
    parts_.cache.invalidate(record.id);
    work_queue_.post(queue_key(record.tenant, record.deployment), "pause/" + record.id.value,
                     [this, record, or_end] { return carry_out(record, or_end); });
  }
}

}  // namespace sandgate
