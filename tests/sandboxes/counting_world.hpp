#pragma once
#include <future>

#include "billing/usage/usage_reader.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {

// What their backend counted, so that every meter leads to an event.
inline constexpr SandboxMetrics kCounted{.cpu_micros = 1'500'000, .egress_bytes = 1 << 30};

// A world on a machine of ours, where sandboxes that began ten seconds ago have counted something.
struct CountingWorld : World {
  CountingWorld() : World("here") { a->count(kCounted); }

  SandboxRecord create_earlier() {
    const SandboxRecord box = create();
    sql("UPDATE metered_sandbox SET opened_at = opened_at - interval '10 s', boundary = boundary -"
        " interval '10 s', observed_at = observed_at - interval '10 s' RETURNING sandbox");
    return box;
  }
  EndResult kill(const SandboxId& id) { return run(replica.lifecycle.kill(tenant, id)); }
  size_t book_ends() { return run(replica.meter.book_ends(*database)); }
  std::string meters(const SandboxId& id) {
    return sql(
        "SELECT string_agg(DISTINCT meter, ' ' ORDER BY meter) FROM usage_event"
        " WHERE sandbox = '" +
        id.value + "'");
  }
  // The meters that are booked once somebody has asked for the books.
  std::future<std::string> ask(const SandboxId& id) {
    return std::async(std::launch::async, [this, id] {
      UsageReader reader(*database, replica.meter);
      run(reader.refresh(tenant));
      return meters(id);
    });
  }
  std::string unbooked() {
    return sql("SELECT count(*) FROM metered_sandbox WHERE unbooked_end IS NOT NULL");
  }
};

inline constexpr const char* kAllMeters =
    "active_cpu_second disk_gib_second egress_gib memory_gib_second sandbox_created vcpu_second";

}  // namespace sandgate::test
