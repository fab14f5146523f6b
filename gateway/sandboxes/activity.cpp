#include "gateway/sandboxes/activity.hpp"

#include <algorithm>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kForgetAfter{600};  // unused for that long: its row has the last use
constexpr std::chrono::milliseconds kTick{250};

// Skips rows that another transaction has locked, which must not hold up the others, and returns
// their ids.
const std::string kWriteUses = R"sql(
  WITH used AS MATERIALIZED (
    SELECT u.id, age_ms FROM json_to_recordset($1::json) AS u(id text, age_ms bigint)
      JOIN sandbox s ON s.id = u.id WHERE s.state IN ('running', 'pausing')),
  free AS MATERIALIZED (
    SELECT s.id, age_ms FROM used JOIN sandbox s ON s.id = used.id
    FOR NO KEY UPDATE OF s SKIP LOCKED),
  written AS (
    UPDATE sandbox SET last_active_at =
      greatest(last_active_at, now() - make_interval(secs => age_ms / 1000.0))
    FROM free WHERE sandbox.id = free.id)
  SELECT id FROM used WHERE id NOT IN (SELECT id FROM free))sql";

}  // namespace

std::chrono::milliseconds Activity::flush_lag(std::chrono::seconds idle_timeout) {
  const auto quarter = std::chrono::milliseconds(idle_timeout) / 4;
  return std::clamp<std::chrono::milliseconds>(quarter, kTick, std::chrono::seconds(5));
}

std::shared_ptr<void> Activity::use(const SandboxId& id, std::chrono::seconds idle_timeout) {
  if (idle_timeout.count() == 0) return nullptr;
  {
    std::lock_guard lock(mutex_);
    Use& use = uses_[id.value];
    ++use.open;
    use.last_used = Steady::now();
    use.idle_timeout = idle_timeout;
  }
  return std::shared_ptr<void>(
      nullptr, [self = shared_from_this(), id = id.value](void*) { self->release(id); });
}

void Activity::release(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = uses_.find(id);
  if (found == uses_.end()) return;
  --found->second.open;
  found->second.last_used = Steady::now();
}

bool Activity::used_within(const SandboxId& id, std::chrono::milliseconds past) const {
  std::lock_guard lock(mutex_);
  const auto found = uses_.find(id.value);
  if (found == uses_.end()) return false;
  return found->second.open > 0 || Steady::now() - found->second.last_used < past;
}

std::optional<Activity::Due> Activity::take(const std::string& id, Use& use,
                                            Steady::time_point now) {
  if (use.open > 0) use.last_used = now;
  if (use.last_used <= use.written) return std::nullopt;
  use.written = now;
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - use.last_used);
  return Due{id, age.count()};
}

std::vector<Activity::Due> Activity::take_due(bool all) {
  const auto now = Steady::now();
  std::vector<Due> due;
  std::lock_guard lock(mutex_);
  for (auto at = uses_.begin(); at != uses_.end();) {
    Use& use = at->second;
    const bool dirty = use.open > 0 || use.last_used > use.written;
    if (dirty && (all || now - use.written >= flush_lag(use.idle_timeout)))
      if (auto one = take(at->first, use, now)) due.push_back(std::move(*one));
    const bool forgettable = use.open == 0 && !dirty && now - use.last_used > kForgetAfter;
    at = forgettable ? uses_.erase(at) : std::next(at);
  }
  return due;
}

Task<void> Activity::flush(bool all) {
  auto writing = write(take_due(all));
  const auto outcome = co_await attempt(std::move(writing));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("activity was not written", {{"reason", error->what()}});
}

Task<void> Activity::flush_now(std::vector<SandboxId> ids) {
  std::vector<Due> due;
  {
    const auto now = Steady::now();
    std::lock_guard lock(mutex_);
    for (const SandboxId& id : ids)
      if (const auto found = uses_.find(id.value); found != uses_.end())
        if (auto one = take(id.value, found->second, now)) due.push_back(std::move(*one));
  }
  return write(std::move(due));
}

void Activity::mark_unwritten(const std::vector<std::string>& ids) {
  std::lock_guard lock(mutex_);
  for (const std::string& id : ids)
    if (const auto found = uses_.find(id); found != uses_.end()) found->second.written = {};
}

Task<void> Activity::write(std::vector<Due> due) {
  if (due.empty()) co_return;
  Json list = Json::array();
  for (const Due& one : due) list.push_back({{"id", one.id}, {"age_ms", one.age_ms}});
  auto work = [text = list.dump()](pqxx::work& tx) {
    // Losing this in a crash costs a few seconds of idle time.
    commit_asynchronously(tx);
    std::vector<std::string> locked;
    for (const auto& row : run_prepared(tx, kWriteUses, text))
      locked.push_back(row[0].as<std::string>());
    return locked;
  };
  auto writing = database_.run(std::move(work));
  const auto outcome = co_await attempt(std::move(writing));
  if (const auto* locked = std::get_if<std::vector<std::string>>(&outcome))
    co_return mark_unwritten(*locked);
  std::vector<std::string> all;
  for (const Due& one : due) all.push_back(one.id);
  mark_unwritten(all);
  throw std::get<Error>(outcome);
}

Task<void> Activity::run() {
  while (true) {
    co_await sleep_for(kTick);
    co_await flush();
  }
}

}  // namespace sandgate
