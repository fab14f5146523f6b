#pragma once
#include <atomic>
#include <chrono>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/turns.hpp"
#include "gateway/events/event.hpp"

namespace sandgate {

// Selects events.
struct EventQuery {
  std::optional<TenantId> tenant;  // its own and those visible to all; empty: all
  std::optional<SandboxId> sandbox;  // events of this sandbox only
  std::vector<std::string> types;  // filters; empty: any
  int64_t after = 0;  // positions above this one
  int64_t limit = 100;
};

struct EventBatch {
  std::vector<Event> events;  // by position
  int64_t through = 0;  // all positions up to this one were examined
  bool over = false;  // the queried sandbox has ended; no event follows
};

// The event log in PostgreSQL: numbers committed events and reads them.
class EventLog {
 public:
  explicit EventLog(Database& database);

  // Moves at most `most` committed events from the outbox into the log, with a delivery for each
  // matching webhook. Returns how many; 0 while another replica is collecting.
  Task<size_t> collect(int64_t most);
  // Repeats collect() until the outbox is empty or another replica is collecting.
  Task<void> collect_all();
  // Returns once everything committed before the call is in the log.
  Task<void> catch_up();

  // The position of the newest event; 0 when there is none.
  Task<int64_t> newest();
  // However many streams read at once, they take a quarter of the database's connections.
  Task<EventBatch> read(EventQuery query);

  // Deletes at most `most` events older than `age`, the oldest first; returns how many.
  Task<size_t> prune(std::chrono::seconds age, int64_t most);

  uint64_t collected() const { return collected_; }  // by this process

 private:
  Database& database_;
  Turns readers_;
  std::atomic<uint64_t> collected_{0};
};

}  // namespace sandgate
