#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "billing/prices/price_books.hpp"
#include "billing/usage/usage_book.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

struct MeteredLife;
struct MeteredRow;

// The attributes of a sandbox that billing records.
struct MeteredSandbox {
  SandboxId id;
  TenantId tenant;
  std::string profile;
  int profile_version = 0;
  std::string deployment, provider, region;
  Resources resources;
  Json metadata = Json::object();
  std::string key;  // id of the key that created it, when known
  bool own = false;  // runs on its tenant's own deployment
};

// Running meters everything; paused meters disk, and memory only while memory is kept.
enum class MeterState { running, paused_memory, paused_disk };

// Meters sandboxes: cuts their time into intervals and books each as usage exactly once. open(),
// change() and close() belong in the transaction that changes the sandbox's state; each is
// idempotent. Times are the database's, or `clock`'s when given. After a clock stepped back nothing
// is booked until it has caught up.
class Meter {
 public:
  // `most_egress` (Gbit/s): the highest plausible sending rate, whatever a backend's counter says.
  explicit Meter(PriceBooks& books, const Clock* clock = nullptr, int64_t most_egress = 25)
      : books_(books), clock_(clock), most_egress_(most_egress) {}

  // A backend's counters of a sandbox, cumulative since it was opened.
  struct Measured {
    std::optional<int64_t> egress_bytes, active_cpu_micros;
    Time sampled_at;
  };
  // Starts metering. `sandbox_created` is booked with the first usage.
  void open(pqxx::work& tx, const MeteredSandbox& sandbox);
  // Books the usage so far, with `totals` when they were read, and goes on in another state or
  // size. No effect on a sandbox that has ended. Throws Error(not_found) for one never opened.
  void change(pqxx::work& tx, const SandboxId& id, MeterState state, const Resources& resources,
              const std::optional<Measured>& totals = std::nullopt);
  // Books the increase of the counters since the last reading; a smaller total is a counter that
  // restarted at 0. A reading that is not newer than the last has no effect, so replicas may repeat
  // it. Of a closed sandbox only the part up to its end is booked. Implausible increases are cut
  // (see MeteredCounters). No effect while an end is not booked, or on a sandbox never opened.
  void observe(pqxx::work& tx, const SandboxId& id, const Measured& totals);
  // Notes that a reading was due and failed. The backend goes on counting, so a later reading will
  // include the processor time up to now, and the money set aside for it is kept.
  void miss(pqxx::work& tx, const SandboxId& id);
  static constexpr Time kNeverBegan{};  // as `ended_at`: nothing is charged, not even the create
  // Books the rest up to `ended_at` (empty: now; at most now, and not before what is booked), with
  // the last `totals` when they were read, and stops metering. No effect on a sandbox that has
  // ended or was never opened. Usage that contradicts the books is left out. Returns what a later
  // reading may still be charged: see last_reading_charge().
  Money close(pqxx::work& tx, const SandboxId& id, std::optional<Time> ended_at = std::nullopt,
              const std::optional<Measured>& totals = std::nullopt);

  // Books ended sandboxes (book_ends), then open ones that were last booked `min_age` ago or
  // longer, up to now, in small transactions. Replicas may run it at the same time. Returns the
  // number of events. A sandbox whose usage contradicts the books is logged as an error and
  // skipped.
  Task<size_t> flush(Database& database, std::chrono::seconds min_age = std::chrono::seconds(60));
  // Books the rest of sandboxes whose end was recorded before their last usage was booked
  // (MeteredLife::unbooked_end), of one tenant or (empty) of all, and releases what is still set
  // aside for them. Returns the number of events.
  Task<size_t> book_ends(Database& database, std::string tenant = "");
  // As flush() for one tenant, without a minimum age.
  Task<size_t> flush_tenant(Database& database, TenantId tenant);
  // As book_ends(), which skips what other transactions are booking, but also waits for those:
  // everything that had ended at the call is then booked. Throws Error(unavailable) when that takes
  // too long.
  Task<void> settle_ends(Database& database, std::string tenant);

  // The events that a flush would book now, without writing them; of all tenants when `tenant` is
  // empty. To be added to what the same database snapshot has booked. Throws Error(too_large) for
  // more than 100 000 open or 100 000 ended sandboxes.
  std::vector<UsageEvent> unbooked(pqxx::work& tx, const std::optional<TenantId>& tenant);

  // Sets a task that every flush awaits first: bookings that must precede all others.
  void set_before_flush(std::function<Task<void>()> task) { before_flush_ = std::move(task); }
  // Sets a function that names the sandboxes which no flush may book, whether the task before it
  // succeeded or not: their end is known but not in the database yet. Called from any thread.
  void set_excluded(std::function<std::set<std::string>()> ids) { excluded_ = std::move(ids); }

  uint64_t conflicts() const { return usage_.conflicts(); }
  uint64_t implausible() const { return implausible_; }  // cut readings, since the process began

 private:
  // The events of a reading up to `until`. An implausible increase is cut, counted and logged.
  std::vector<UsageEvent> take(MeteredRow& row, const Measured& totals, Time until,
                               const PriceBooks::RatingContext& rating);
  // Books `events` and assigns `next` to `row`; returns how many events are new. When they
  // contradict the books, an error is logged and neither happens; the caller goes on, because a
  // retry would fail for ever.
  size_t record(pqxx::work& tx, MeteredRow& row, MeteredRow next,
                const std::vector<UsageEvent>& events, const PriceSnapshot& prices);
  // Books the time up to `until`, and `totals` when given.
  void advance(pqxx::work& tx, MeteredRow& row, Time until, const std::optional<Measured>& totals,
               const PriceBooks::RatingContext& rating);
  // The events up to the row's unbooked end; closes the row.
  std::vector<UsageEvent> end(MeteredRow& row, const PriceBooks::RatingContext& rating);
  // Books the end of one sandbox; closes it even when the events contradict the books. Returns how
  // many events are new.
  size_t book_end(pqxx::work& tx, MeteredRow row, const PriceBooks::RatingContext& rating);
  // The ends of several; throws Error(conflict) when the events of one contradict the books.
  size_t book_ends(pqxx::work& tx, std::vector<MeteredRow>& rows,
                   const PriceBooks::RatingContext& rating);
  Task<size_t> flush(Database& database, std::string tenant, std::chrono::seconds min_age);

  PriceBooks& books_;
  const Clock* clock_;
  const int64_t most_egress_;
  UsageBook usage_;
  std::atomic<uint64_t> implausible_{0};
  std::function<Task<void>()> before_flush_;
  std::function<std::set<std::string>()> excluded_;
};

// Limits `sampled_at` to `received_at`: the clock of the machine that sampled may be ahead.
Meter::Measured measured_of(const SandboxMetrics& metrics, Time received_at);

}  // namespace sandgate
