#include "gateway/sandboxes/upkeep/machine_monitor.hpp"

#include "gateway/core/log.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/ending/lost_sandbox.hpp"

namespace sandgate {

// Without a sign for 45 seconds, three of which are due in that time, the other one is gone.
Task<bool> MachineMonitor::claim() {
  if (options_.own.empty()) co_return true;
  auto work = [own = options_.own, place = options_.place](pqxx::work& tx) {
    return !run_prepared(tx,
                         "INSERT INTO machine AS m (name, seen_at, place) VALUES ($1, now(), $2)"
                         " ON CONFLICT (name) DO UPDATE"
                         " SET seen_at = excluded.seen_at, place = excluded.place"
                         " WHERE coalesce(m.place, $2) = $2"
                         " OR m.seen_at < now() - interval '45 seconds' RETURNING 1",
                         own, place)
                .empty();
  };
  auto working = parts_.database.run(std::move(work));
  co_return co_await std::move(working);
}

Task<std::vector<MachineMonitor::Heartbeat>> MachineMonitor::exchange_heartbeats() {
  auto work = [own = options_.own, place = options_.place](pqxx::work& tx) {
    if (!own.empty())
      run_prepared(tx,
                   "INSERT INTO machine (name, seen_at, place) VALUES ($1, now(), $2)"
                   " ON CONFLICT (name) DO UPDATE"
                   " SET seen_at = excluded.seen_at, place = excluded.place",
                   own, place);
    std::vector<Heartbeat> others;
    for (const auto& row :
         run_prepared(tx,
                      "SELECT name, (extract(epoch FROM seen_at) * 1000000)::bigint FROM machine"
                      " WHERE name <> $1 AND seen_at < now()",
                      own))
      others.push_back({row[0].as<std::string>(), from_micros(row[1].as<int64_t>())});
    return others;
  };
  auto working = parts_.database.run(std::move(work));
  co_return co_await std::move(working);
}

void MachineMonitor::compare(const std::vector<Heartbeat>& heartbeats, Instant now) {
  if (now - last_step_ > options_.gap) silences_.clear();
  last_step_ = now;
  std::map<std::string, Silence> silences;
  for (const Heartbeat& heartbeat : heartbeats) {
    const auto before = silences_.find(heartbeat.machine);
    const bool is_old = before != silences_.end() && before->second.seen == heartbeat.seen;
    silences.emplace(heartbeat.machine,
                     Silence{heartbeat.seen, is_old ? before->second.since : now});
  }
  silences_ = std::move(silences);
}

Task<size_t> MachineMonitor::step() {
  auto reading = exchange_heartbeats();
  const auto heartbeats = co_await std::move(reading);
  const auto now = std::chrono::steady_clock::now();
  compare(heartbeats, now);
  size_t ended = 0;
  for (const Heartbeat& heartbeat : heartbeats) {
    if (now - silences_.at(heartbeat.machine).since < options_.silence) continue;
    auto ending = end_all_on(heartbeat);
    ended += co_await std::move(ending);
  }
  co_return ended;
}

Task<size_t> MachineMonitor::end_all_on(Heartbeat last) {
  Database& database = parts_.database;
  auto read = [machine = last.machine](pqxx::work& tx) {
    return sandbox_rows::on_machine(tx, machine);
  };
  const auto ids = co_await database.run(std::move(read));
  if (!ids.empty())
    log::error("a machine is silent: its sandboxes are lost", {{"machine", last.machine},
                                                               {"last_seen", to_rfc3339(last.seen)},
                                                               {"sandboxes", ids.size()}});
  size_t ended = 0;
  for (const SandboxId& id : ids) {
    auto ending = note_lost_with_machine(parts_, id, last.seen);
    const auto outcome = co_await attempt(std::move(ending));
    if (const Error* error = std::get_if<Error>(&outcome))
      log::warn("the loss of a sandbox was not written",
                {{"sandbox", id.value}, {"reason", error->what()}});
    else
      ++ended;
  }
  // What was not written is tried again in the next step.
  if (ended < ids.size()) co_return ended;
  // Not the row of a machine that has returned meanwhile.
  auto forget = [last](pqxx::work& tx) {
    run_prepared(tx, "DELETE FROM machine WHERE name = $1 AND seen_at <= $2::timestamptz",
                 last.machine, to_rfc3339(last.seen));
  };
  co_await database.run(std::move(forget));
  co_return ended;
}

}  // namespace sandgate
