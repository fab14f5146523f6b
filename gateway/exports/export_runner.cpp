#include "gateway/exports/export_runner.hpp"

#include "billing/booked_through.hpp"
#include "gateway/core/log.hpp"
#include "gateway/exports/export_events.hpp"

namespace sandgate {
namespace {

// In sequence numbers, not events: bookings that were rolled back leave gaps.
constexpr int64_t kWindow = 200;
constexpr std::chrono::seconds kLongestBackoff{300};
constexpr std::chrono::hours kLongestWish{24};  // limit of a receiver's Retry-After

void bury_refused(pqxx::work& tx, const ExportRow& row, const std::vector<ExportEvent>& events,
                  const Delivery& delivery) {
  for (const auto& refused : delivery.refused)
    export_rows::bury(tx, row, events[refused.index], refused.reason);
}

// The cursor after a delivery of the events up to `end`, and the pause before the next round.
export_rows::Round round_of(const ExportRow& row, int64_t end,
                            const std::vector<ExportEvent>& events, const Delivery& delivery) {
  export_rows::Round round{
      .cursor = end, .sent = static_cast<int64_t>(delivery.accepted), .error = delivery.stopped};
  if (delivery.settled < events.size())
    round.cursor = delivery.settled == 0 ? row.cursor : events[delivery.settled - 1].sequence;
  if (delivery.stopped.empty()) return round;
  const std::chrono::seconds wish = delivery.retry_after.value_or(std::chrono::seconds(0));
  round.wait = std::min<std::chrono::seconds>(std::max(wish, ExportRunner::backoff(row.failures)),
                                              kLongestWish);
  return round;
}

}  // namespace

std::chrono::seconds ExportRunner::backoff(int failures) {
  const std::chrono::seconds wait(int64_t{2} << std::min(failures, 16));
  return std::min(wait, kLongestBackoff);
}

Task<size_t> ExportRunner::run_once() {
  const auto names = co_await database_.run([](pqxx::work& tx) { return export_rows::due(tx); });
  if (names.empty()) co_return 0;
  const int64_t through = co_await booked_through(database_);
  size_t settled = 0;
  for (const std::string& name : names) {
    auto running = run_one(name, through);
    const auto outcome = co_await attempt(std::move(running));
    if (const Error* error = std::get_if<Error>(&outcome))
      log::warn("an export was interrupted", {{"export", name}, {"reason", error->what()}});
    else
      settled += std::get<size_t>(outcome);
  }
  co_return settled;
}

Task<Delivery> ExportRunner::deliver(const ExportRow& row, std::vector<ExportEvent> events) {
  Delivery delivery;
  if (events.empty()) co_return delivery;
  if (row.sealed_away) {
    delivery.stopped = row.error;
    co_return delivery;
  }
  const ExportKind* kind = find_export_kind(row.kind);
  if (!kind) {
    delivery.stopped = "this release has no export of kind " + row.kind;
    co_return delivery;
  }
  ExporterParts parts{http_, clock_, row.name, row.settings, row.secrets};
  if (allow_private_) parts.settings["allow_private"] = true;
  const auto exporter = kind->make(std::move(parts));
  co_return co_await exporter->deliver(std::move(events));
}

Task<size_t> ExportRunner::run_one(std::string name, int64_t through) {
  auto taking = [this, name](pqxx::work& tx) { return export_rows::take(tx, vault_, name); };
  const auto row = co_await database_.run(std::move(taking));
  if (!row) co_return 0;
  const Delivery again = co_await send_again(*row);
  // What stops dead letters would stop the others: the round is over then.
  const bool goes_on = again.stopped.empty();
  const int64_t end = goes_on ? std::min(through, row->cursor + kWindow) : row->cursor;
  auto reading = [cursor = row->cursor, end](pqxx::work& tx) {
    return read_export_events(tx, cursor, end);
  };
  const auto events = co_await database_.run(std::move(reading));
  Delivery delivery{.stopped = again.stopped, .retry_after = again.retry_after};
  if (goes_on) delivery = co_await deliver(*row, events);
  const export_rows::Round round = round_of(*row, end, events, delivery);
  auto writing = [row, events, delivery, round](pqxx::work& tx) {
    bury_refused(tx, *row, events, delivery);
    export_rows::finish(tx, *row, round);
  };
  co_await database_.run(std::move(writing));
  if (!delivery.stopped.empty())
    log::warn("an export has to wait", {{"export", name}, {"reason", delivery.stopped}});
  co_return again.settled + delivery.settled;
}

Task<Delivery> ExportRunner::send_again(ExportRow row) {
  auto reading = [name = row.name](pqxx::work& tx) { return read_retries(tx, name, kWindow); };
  const auto events = co_await database_.run(std::move(reading));
  if (events.empty()) co_return Delivery{};
  const Delivery delivery = co_await deliver(row, events);
  auto writing = [row, events, delivery](pqxx::work& tx) {
    for (size_t i = 0; i < delivery.settled; ++i) export_rows::unbury(tx, row, events[i]);
    export_rows::count_sent(tx, row, delivery.accepted);
    bury_refused(tx, row, events, delivery);
  };
  co_await database_.run(std::move(writing));
  co_return delivery;
}

}  // namespace sandgate
