#include "gateway/exports/export_runner.hpp"

#include "billing/usage/booking_watermark.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/exports/export_events.hpp"

namespace sandgate {
namespace {

// In sequence numbers, not events: bookings that were rolled back leave gaps.
constexpr int64_t kWindow = 200;
constexpr size_t kExportsAtOnce = 32;
constexpr std::chrono::milliseconds kLook{5000}, kLookForRoom{100};
constexpr std::chrono::seconds kLongestBackoff{300};
constexpr std::chrono::hours kMaxRetryAfter{24};

// Transactions write an export's row before its dead letters, in the order of its removal: the
// other way round the two would meet halfway, and one of them fail.
void add_refused(pqxx::work& tx, const ExportRow& row, const std::vector<ExportEvent>& events,
                 const BatchResult& result) {
  for (const auto& refused : result.refused)
    export_rows::add_dead_letter(tx, row, events[refused.index], refused.reason);
}

// The cursor after sending the events up to `end`, and the pause before the next round. A receiver
// that took something before it stopped is not one that is away: its pauses do not grow, or one
// that refuses a few in a hundred would fall behind for ever.
export_rows::Round round_of(const ExportRow& row, int64_t end,
                            const std::vector<ExportEvent>& events, const BatchResult& result,
                            bool is_progress) {
  export_rows::Round round{
      .cursor = end, .sent = static_cast<int64_t>(result.accepted), .error = result.stopped};
  if (result.settled < events.size())
    round.cursor = result.settled == 0 ? row.cursor : events[result.settled - 1].sequence;
  if (result.stopped.empty()) return round;
  const int before = is_progress ? 0 : row.failures;
  round.failures = before + 1;
  const auto pause = ExportRunner::backoff(before);
  round.wait = std::min<std::chrono::seconds>(std::max(result.retry_after.value_or(pause), pause),
                                              kMaxRetryAfter);
  return round;
}

}  // namespace

// Counts an export as under way until destruction.
class ExportRunner::UnderWay {
 public:
  UnderWay(ExportRunner& runner, std::string name) : runner_(runner), name_(std::move(name)) {
    runner_.under_way_.insert(name_);
  }
  ~UnderWay() { runner_.under_way_.erase(name_); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  ExportRunner& runner_;
  const std::string name_;
};

bool ExportRunner::is_full() const { return under_way_.size() >= kExportsAtOnce; }

std::chrono::seconds ExportRunner::backoff(int failures) {
  const std::chrono::seconds wait(int64_t{2} << std::min(failures, 16));
  return std::min(wait, kLongestBackoff);
}

Task<size_t> ExportRunner::run_once() {
  size_t moved = 0;
  const auto names = co_await database_.run(&export_rows::due);
  for (const std::string& name : names) moved += co_await run_one(name);
  co_return moved;
}

Task<void> ExportRunner::run() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  for (;;) {
    const auto names = co_await database_.run(&export_rows::due);
    for (const std::string& name : names) {
      if (is_full() || under_way_.contains(name)) continue;
      auto counted = std::make_shared<UnderWay>(*this, name);
      spawn_detached(executor, [this, counted, name] { return send_backlog(name); });
    }
    co_await sleep_for(is_full() ? kLookForRoom : kLook);
  }
}

// A failing export is not due again at once, so it ends here. One that has much to send gives its
// place up after each batch when others may wait for one.
Task<void> ExportRunner::send_backlog(std::string name) {
  size_t moved = 0;
  do {
    auto running = run_one(name);
    const auto outcome = co_await attempt(std::move(running));
    if (const Error* error = std::get_if<Error>(&outcome)) {
      log::warn("an export was interrupted", {{"export", name}, {"reason", error->what()}});
      co_return;
    }
    moved = std::get<size_t>(outcome);
  } while (moved > 0 && !is_full());  // its own place is among those that are taken
}

Task<BatchResult> ExportRunner::deliver(const ExportRow& row, std::vector<ExportEvent> events) {
  BatchResult result;
  if (events.empty()) co_return result;
  if (row.sealed_by_other_key) {
    result.stopped = row.error;
    co_return result;
  }
  const ExportKind* kind = find_export_kind(row.kind);
  if (!kind) {
    result.stopped = "this release has no export of kind " + row.kind;
    co_return result;
  }
  ExporterParts parts{http_, clock_, row.name, row.settings, row.secrets};
  if (allow_private_) parts.settings["allow_private"] = true;
  const auto exporter = kind->make(std::move(parts));
  co_return co_await exporter->deliver(std::move(events));
}

Task<size_t> ExportRunner::run_one(std::string name) {
  const int64_t through = co_await booking_watermark(database_);
  auto taking = [this, name](pqxx::work& tx) {
    return export_rows::take(tx, cipher_, name, lease_);
  };
  const auto row = co_await database_.run(std::move(taking));
  if (!row) co_return 0;
  auto sending = with_companion(send_batch(*row, through), keep_leased(*row));
  co_return co_await std::move(sending);
}

Task<void> ExportRunner::keep_leased(ExportRow row) {
  for (;;) {
    co_await sleep_for(lease_ / 3);
    auto renewing =
        database_.run([this, row](pqxx::work& tx) { export_rows::renew(tx, row, lease_); });
    co_await attempt(std::move(renewing));
  }
}

Task<size_t> ExportRunner::send_batch(ExportRow row, int64_t through) {
  const BatchResult again = co_await retry_dead_letters(row);
  // What stops dead letters would stop the others: the round is over then.
  const bool goes_on = again.stopped.empty();
  const int64_t end = goes_on ? std::min(through, row.cursor + kWindow) : row.cursor;
  auto reading = [cursor = row.cursor, end](pqxx::work& tx) {
    return read_export_events(tx, cursor, end);
  };
  const auto events = co_await database_.run(std::move(reading));
  BatchResult result{.stopped = again.stopped, .retry_after = again.retry_after};
  if (goes_on) {
    auto delivering = deliver(row, events);
    result = co_await std::move(delivering);
  }
  const bool is_progress = again.accepted + result.accepted > 0;
  const export_rows::Round round = round_of(row, end, events, result, is_progress);
  auto writing = [row, events, result, round](pqxx::work& tx) {
    export_rows::finish(tx, row, round);
    add_refused(tx, row, events, result);
  };
  co_await database_.run(std::move(writing));
  if (!result.stopped.empty())
    log::warn("an export has to wait", {{"export", row.name}, {"reason", result.stopped}});
  co_return again.settled + static_cast<size_t>(round.cursor - row.cursor);
}

Task<BatchResult> ExportRunner::retry_dead_letters(ExportRow row) {
  auto reading = [name = row.name](pqxx::work& tx) { return read_retries(tx, name, kWindow); };
  const auto events = co_await database_.run(std::move(reading));
  if (events.empty()) co_return BatchResult{};
  const BatchResult result = co_await deliver(row, events);
  auto writing = [row, events, result](pqxx::work& tx) {
    export_rows::count_sent(tx, row, result.accepted);
    for (size_t i = 0; i < result.settled; ++i) export_rows::remove_dead_letter(tx, row, events[i]);
    add_refused(tx, row, events, result);
  };
  co_await database_.run(std::move(writing));
  co_return result;
}

}  // namespace sandgate
