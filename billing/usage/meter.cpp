#include "billing/usage/meter.hpp"

#include <algorithm>
#include <span>

#include "billing/budgets/budget_rows.hpp"
#include "billing/budgets/reservation_estimate.hpp"
#include "billing/usage/metered_rows.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr size_t kSandboxesPerTransaction = 500;
// Eight hours: limits the size of each transaction after a long outage.
constexpr size_t kPiecesPerTransaction = 32;
constexpr std::chrono::seconds kFlushTimeout{30};
constexpr int kSettleTries = 3;
constexpr size_t kMaxLooked = 100'000;  // sandboxes whose unbooked usage is computed

// What one transaction of a flush booked.
struct Batch {
  size_t sandboxes = 0, events = 0;
};

bool is_contradiction(const Error& error) {
  return error.code == ErrorCode::conflict && error.details.contains("sandbox");
}

// Of the rows whose tenants have budgets.
BookingProgressMap booking_progress(std::span<const MeteredRow> rows, const PriceSnapshot& prices) {
  BookingProgressMap to;
  for (const MeteredRow& row : rows)
    if (row.has_budgets)
      to.emplace(row.life.id.value, BookingProgress{prices, row.life, uncounted_time(prices, row)});
  return to;
}

}  // namespace

std::vector<UsageEvent> Meter::take(MeteredRow& row, const Measured& totals, Time until,
                                    const PriceBooks::RatingContext& rating) {
  auto events = row.counters.take(row.life, totals, until, rating, most_egress_);
  if (!row.counters.is_cut) return events;
  ++implausible_;
  log::warn("a backend counted more than can be",
            {{"sandbox", row.life.id.value},
             {"deployment", row.life.deployment},
             {"egress_bytes", totals.egress_bytes.value_or(0)},
             {"cpu_micros", totals.active_cpu_micros.value_or(0)}});
  return events;
}

size_t Meter::record(pqxx::work& tx, MeteredRow& row, MeteredRow next,
                     const std::vector<UsageEvent>& events, const PriceSnapshot& prices) {
  try {
    size_t booked = 0;
    if (!events.empty()) {
      tx.exec("SAVEPOINT booking");
      booked = usage_.record(tx, events, row.has_budgets, booking_progress({&next, 1}, prices));
    }
    row = std::move(next);
    return booked;
  } catch (const Error& error) {
    if (!is_contradiction(error)) throw;
    tx.exec("ROLLBACK TO SAVEPOINT booking");
    return 0;
  }
}

void Meter::advance(pqxx::work& tx, MeteredRow& row, Time until,
                    const std::optional<Measured>& totals,
                    const PriceBooks::RatingContext& rating) {
  MeteredRow next = row;
  auto events = book(next.life, until, *rating.prices, SIZE_MAX);
  if (totals)
    std::ranges::move(take(next, *totals, next.life.boundary, rating), std::back_inserter(events));
  record(tx, row, std::move(next), events, *rating.prices);
}

void Meter::open(pqxx::work& tx, const MeteredSandbox& sandbox) {
  // Nothing is rated here, so there is no need to hold off price publication.
  insert_metered(tx, sandbox, clock_ ? std::optional(clock_->now()) : std::nullopt);
}

void Meter::change(pqxx::work& tx, const SandboxId& id, MeterState state,
                   const Resources& resources, const std::optional<Measured>& totals) {
  const auto rating = books_.lock(tx, clock_);
  auto row = lock_metered(tx, id);
  if (!row) throw Error::not_found("metered sandbox", id.value);
  if (row->life.closed || row->life.unbooked_end) return;
  advance(tx, *row, rating.now, totals, rating);
  const bool ran = row->life.state == MeterState::running, runs = state == MeterState::running;
  // One that is paused late is charged as paused from the end of its time on.
  if (ran && !runs)
    row->counters.pause(std::min(rating.now, row->life.ends_at.value_or(rating.now)));
  if (!ran && runs) row->counters.resume(rating.now);
  row->life.state = state;
  row->life.resources = resources;
  update_metered(tx, *row);
}

void Meter::observe(pqxx::work& tx, const SandboxId& id, const Measured& totals) {
  const auto rating = books_.lock(tx, clock_);
  auto row = lock_metered(tx, id);
  if (!row || row->life.unbooked_end) return;  // the end was recorded with its own reading
  MeteredRow next = *row;
  const Time now = std::min(rating.now, row->life.ends_at.value_or(rating.now));
  const Time until = row->life.closed ? row->life.boundary : now;
  const auto events = take(next, totals, until, rating);
  record(tx, *row, std::move(next), events, *rating.prices);
  update_metered(tx, *row);
}

void Meter::miss(pqxx::work& tx, const SandboxId& id) { note_missed(tx, id); }

Money Meter::close(pqxx::work& tx, const SandboxId& id, std::optional<Time> ended_at,
                   const std::optional<Measured>& totals) {
  const auto rating = books_.lock(tx, clock_);
  auto row = lock_metered(tx, id);
  if (!row || row->life.closed || row->life.unbooked_end) return {};
  const Time end = std::min(ended_at.value_or(rating.now), rating.now);
  if (ended_at != kNeverBegan) advance(tx, *row, end, totals, rating);
  row->life.closed = true;
  update_metered(tx, *row);
  return last_reading_charge(*rating.prices, *row);
}

std::vector<UsageEvent> Meter::end(MeteredRow& row, const PriceBooks::RatingContext& rating) {
  auto events = book(row.life, *row.life.unbooked_end, *rating.prices, SIZE_MAX);
  if (row.last)
    std::ranges::move(take(row, *row.last, row.life.boundary, rating), std::back_inserter(events));
  row.life.unbooked_end = std::nullopt;
  row.life.closed = true;
  return events;
}

size_t Meter::book_end(pqxx::work& tx, MeteredRow row, const PriceBooks::RatingContext& rating) {
  MeteredRow next = row;
  const auto events = end(next, rating);
  const size_t booked = record(tx, row, std::move(next), events, *rating.prices);
  row.life.unbooked_end = std::nullopt;
  row.life.closed = true;
  update_metered(tx, row);
  return booked;
}

size_t Meter::book_ends(pqxx::work& tx, std::vector<MeteredRow>& rows,
                        const PriceBooks::RatingContext& rating) {
  if (rows.size() == 1) return book_end(tx, rows[0], rating);
  std::vector<UsageEvent> all;
  for (MeteredRow& row : rows) std::ranges::move(end(row, rating), std::back_inserter(all));
  const size_t booked = usage_.record(tx, all);
  for (const MeteredRow& row : rows) update_metered(tx, row);
  return booked;
}

Task<size_t> Meter::book_ends(Database& database, std::string tenant) {
  size_t events = 0;
  for (size_t at_once = kSandboxesPerTransaction;;) {
    auto work = [this, tenant, at_once](pqxx::work& tx) {
      lock_booking(tx);
      const auto rating = books_.lock(tx, clock_);
      auto rows = lock_unbooked_ends(tx, tenant, at_once);
      const Batch batch{rows.size(), book_ends(tx, rows, rating)};
      // Such an end is recorded where nothing is set aside, but a first budget may have been set
      // before it was committed.
      std::set<std::string> ended;
      for (const MeteredRow& row : rows) ended.insert(row.life.id.value);
      if (!ended.empty()) release_reservations(tx, ended, clock_);
      return batch;
    };
    const auto booked = co_await attempt(database.run_within(kFlushTimeout, std::move(work)));
    if (const Error* error = std::get_if<Error>(&booked)) {
      if (!is_contradiction(*error) || at_once == 1) throw *error;
      at_once = 1;  // one contradicts the books: the others must not wait for it
      continue;
    }
    const Batch& batch = std::get<Batch>(booked);
    events += batch.events;
    if (batch.sandboxes < at_once) break;
  }
  co_return events;
}

Task<void> Meter::settle_ends(Database& database, std::string tenant) {
  auto looking = database.run([this](pqxx::work& tx) { return books_.peek(tx, clock_).now; });
  const Time asked_at = co_await std::move(looking);
  auto work = [tenant, asked_at](pqxx::work& tx) {
    await_bookings(tx);
    return has_unbooked_ends(tx, tenant, asked_at);
  };
  // A transaction that was waited for may have rolled back.
  for (int tries = 0; tries < kSettleTries; ++tries) {
    co_await book_ends(database, tenant);
    auto waiting = database.run_within(kFlushTimeout, work);
    const bool some_left = co_await std::move(waiting);
    if (!some_left) co_return;
  }
  Error late(ErrorCode::unavailable, "what has ended is not booked yet: try again");
  late.retry_after = std::chrono::seconds(1);
  throw late;
}

Meter::Measured measured_of(const SandboxMetrics& metrics, Time received_at) {
  return {.egress_bytes = metrics.egress_bytes,
          .active_cpu_micros = metrics.cpu_micros,
          .sampled_at = std::min(metrics.sampled_at, received_at)};
}

std::vector<UsageEvent> Meter::unbooked(pqxx::work& tx, const std::optional<TenantId>& tenant) {
  const auto rating = books_.peek(tx, clock_);
  std::vector<UsageEvent> all;
  auto lives = read_open(tx, tenant, kMaxLooked + 1);
  if (lives.size() > kMaxLooked)
    throw Error(ErrorCode::too_large,
                "too many sandboxes run to add up what is not booked yet: "
                "ask for the usage of one tenant");
  auto ends = read_unbooked_ends(tx, tenant ? tenant->value : "", kMaxLooked + 1);
  if (ends.size() > kMaxLooked)
    throw Error(ErrorCode::too_large,
                "too many sandboxes have ended of late to add up what is not booked yet: "
                "try again in a minute, or ask for the usage of one tenant");
  const auto left_out = excluded_ ? excluded_() : std::set<std::string>();
  std::erase_if(lives, [&](const MeteredLife& life) { return left_out.contains(life.id.value); });
  for (MeteredLife& life : lives)
    for (UsageEvent& event : book(life, rating.now, *rating.prices, kPiecesPerTransaction))
      all.push_back(std::move(event));
  for (MeteredRow& row : ends) std::ranges::move(end(row, rating), std::back_inserter(all));
  return all;
}

Task<size_t> Meter::flush(Database& database, std::chrono::seconds min_age) {
  co_return co_await flush(database, "", min_age);
}

Task<size_t> Meter::flush_tenant(Database& database, TenantId tenant) {
  co_return co_await flush(database, tenant.value, std::chrono::seconds(0));
}

Task<size_t> Meter::flush(Database& database, std::string tenant, std::chrono::seconds min_age) {
  if (before_flush_) co_await before_flush_();
  size_t events = co_await book_ends(database, tenant);
  DueForBooking due{.tenant = std::move(tenant), .limit = kSandboxesPerTransaction};
  std::optional<Time> started;  // sandboxes booked up to later are not due again
  for (;;) {
    if (excluded_) due.except.merge(excluded_());
    auto work = [this, due, started, min_age](pqxx::work& tx) mutable {
      lock_booking(tx);
      const auto rating = books_.lock(tx, clock_);
      // When the clock stepped back, a later start would find the same lives for ever.
      const Time start = std::min(started.value_or(rating.now), rating.now);
      due.booked_before = start - min_age;
      auto rows = lock_due(tx, due);
      std::vector<UsageEvent> all;
      for (MeteredRow& row : rows)
        std::ranges::move(book(row.life, rating.now, *rating.prices, kPiecesPerTransaction),
                          std::back_inserter(all));
      const BookingProgressMap to = booking_progress(rows, *rating.prices);
      const Batch batch{rows.size(), usage_.record(tx, all, /*has_budgets=*/true, to)};
      advance_metered(tx, rows);
      return std::pair(batch, start);
    };
    auto booked = co_await attempt(database.run_within(kFlushTimeout, std::move(work)));
    if (const Error* error = std::get_if<Error>(&booked)) {
      if (!is_contradiction(*error)) throw *error;
      due.except.insert(error->details["sandbox"].get<std::string>());
      continue;
    }
    const auto& [batch, start] = std::get<0>(booked);
    started = start;
    events += batch.events;
    if (batch.sandboxes == 0) break;
  }
  co_return events;
}

}  // namespace sandgate
