#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "billing/price_books.hpp"
#include "billing/usage_book.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

struct MeteredLife;
struct MeteredRow;

// A sandbox as billing sees it.
struct MeteredSandbox {
  SandboxId id;
  TenantId tenant;
  std::string profile;
  int profile_version = 0;
  std::string deployment, provider, region;
  Resources resources;
  Json metadata = Json::object();
  std::string key;  // id of the key that created it, when known
  bool own = false;  // on a deployment of its tenant's own
};

// Running meters everything; paused meters disk, and memory only while memory is kept.
enum class MeterState { running, paused_memory, paused_disk };

// Cuts sandboxes' lives into intervals and books each as usage, exactly once. open, change and
// close belong in the transaction that changes the sandbox's state; each is idempotent. Times are
// the database's (or, in tests, `clock`'s); a clock that steps back books nothing until it has
// caught up.
class Meter {
 public:
  // `most_egress` (Gbit/s): what a sandbox can send at most, whatever its backend's counter says.
  explicit Meter(PriceBooks& books, const Clock* clock = nullptr, int64_t most_egress = 25)
      : books_(books), clock_(clock), most_egress_(most_egress) {}

  // What a backend counted of a sandbox since it was opened.
  struct Measured {
    std::optional<int64_t> egress_bytes, active_cpu_micros;
    Time sampled_at;
  };
  // Starts metering; that it was created is booked with the first of its usage.
  void open(pqxx::work& tx, const MeteredSandbox& sandbox);
  // Books what ran so far, with the totals if they were read, and goes on in another state or size.
  // No effect on a closed sandbox; throws Error(not_found) for one never opened.
  void change(pqxx::work& tx, const SandboxId& id, MeterState state, const Resources& resources,
              const std::optional<Measured>& totals = std::nullopt);
  // Books what was counted; the totals only grow, a smaller one (a restarted counter) starts
  // counting anew. A reading that is not newer than the last changes nothing, so that it may be
  // booked again and by anybody. Of a closed sandbox only what was counted up to its end is booked:
  // what comes later is not its tenant's. What can't be is left out (see MeteredCounters).
  void observe(pqxx::work& tx, const SandboxId& id, const Measured& totals);
  static constexpr Time kNeverBegan{};  // as an end: nothing is charged, not even the create
  // Books the rest up to `ended_at` (now when empty; never after now nor before what is booked
  // already), with the last totals if they were read, and stops metering. No effect when closed or
  // never opened. What contradicts the books is left out.
  void close(pqxx::work& tx, const SandboxId& id, std::optional<Time> ended_at = std::nullopt,
             const std::optional<Measured>& totals = std::nullopt);

  // Books open sandboxes up to now that were last booked `min_age` ago or longer, in small
  // transactions; replicas may run it at the same time. Returns the number of events. A sandbox
  // whose usage contradicts what is booked is left out (and alarmed), the others go on.
  Task<size_t> flush(Database& database, std::chrono::seconds min_age = std::chrono::seconds(60));
  // Books the rest of sandboxes whose end was written down without it (prompt_end.hpp), of one
  // tenant or (empty) of all. flush() does so too. Returns the number of events.
  Task<size_t> book_ends(Database& database, std::string tenant = "");
  // As flush() for one tenant, up to this moment.
  Task<size_t> flush_tenant(Database& database, TenantId tenant);
  // These leave out what somebody else books at the time. As book_ends(), but returns only once all
  // that had ended is in the books, and what others booked of the rest is, too. Throws
  // Error(unavailable) when it takes long.
  Task<void> settle_ends(Database& database, std::string tenant);

  // What a flush would book now, for who only reads: nothing is written. Of all tenants when
  // empty. To be added to what the same snapshot of the database has booked.
  std::vector<UsageEvent> unbooked(pqxx::work& tx, const std::optional<TenantId>& tenant);

  // Awaited before every flush: what has to be in the books before anything else is.
  void set_prelude(std::function<Task<void>()> prelude) { prelude_ = std::move(prelude); }

  uint64_t conflicts() const { return usage_.conflicts(); }
  uint64_t implausible() const { return implausible_; }  // readings, since the process began

 private:
  PriceBooks::Held hold(pqxx::work& tx);
  // Of the readings up to `until`, what can be; the rest is told of.
  std::vector<UsageEvent> take(MeteredRow& row, const Measured& totals, Time until,
                               const PriceBooks::Held& held);
  // Books `events` and makes `row` what they lead to, unless they contradict what is booked (which
  // is told of). Ends and readings are not held up by that, since nobody could ever get past it.
  void record(pqxx::work& tx, MeteredRow& row, MeteredRow next,
              const std::vector<UsageEvent>& events);
  // Books the life up to `until` with what was counted.
  void advance(pqxx::work& tx, MeteredRow& row, Time until, const std::optional<Measured>& totals,
               const PriceBooks::Held& held);
  // What leads to its unbooked end; closes it.
  std::vector<UsageEvent> end(MeteredRow& row, const PriceBooks::Held& held);
  // The same of one, whatever the books say.
  void book_end(pqxx::work& tx, MeteredRow row, const PriceBooks::Held& held);
  Task<size_t> flush(Database& database, std::string tenant, std::chrono::seconds min_age);

  PriceBooks& books_;
  const Clock* clock_;
  const int64_t most_egress_;
  UsageBook usage_;
  std::atomic<uint64_t> implausible_{0};
  std::function<Task<void>()> prelude_;
};

// As of when it was received at the latest: its reader's clock may be ahead of everybody else's.
Meter::Measured measured_of(const SandboxMetrics& metrics, Time received_at);

}  // namespace sandgate
