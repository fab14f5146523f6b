#pragma once
#include <atomic>
#include <chrono>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/events/event.hpp"

namespace sandgate {

// Which events, from where on.
struct EventQuery {
  std::optional<TenantId> tenant;  // its own and what concerns everybody; empty: all
  std::optional<SandboxId> sandbox;  // only this one's
  std::vector<std::string> types;  // filters; empty: any
  int64_t after = 0;  // positions above
  int64_t limit = 100;
};

struct EventBatch {
  std::vector<Event> events;  // by position
  int64_t through = 0;  // everything up to here was looked at
  bool over = false;  // the query's sandbox has ended, and no event follows these
};

// The events in PostgreSQL: numbering what has committed, and reading it.
class EventLog {
 public:
  explicit EventLog(Database& database) : database_(database) {}

  // Moves committed events from the outbox into the log, `most` at a time, with a delivery for
  // each webhook that wants them. One replica works at a time; who comes second goes away with 0.
  Task<size_t> collect(int64_t most);
  // The same until nothing is left.
  Task<void> collect_all();
  // Returns when everything that had committed when it was called is in the log.
  Task<void> catch_up();

  // The position of the newest event; 0 when there is none.
  Task<int64_t> newest();
  Task<EventBatch> read(EventQuery query);

  // Forgets events older than `age`, a batch at a time; returns how many.
  Task<size_t> forget(std::chrono::seconds age, int64_t most);

  uint64_t collected() const { return collected_; }  // by this replica

 private:
  Database& database_;
  std::atomic<uint64_t> collected_{0};
};

}  // namespace sandgate
