#pragma once
#include <set>
#include <string>

#include "gateway/core/database.hpp"
#include "gateway/exports/export_rows.hpp"

namespace sandgate {

// Sends booked usage to the configured receivers, in order of booking. Replicas take turns by a
// lease per export. The cursor moves after the receiver's response, so a crash may repeat events;
// receivers recognize them by their ids.
class ExportRunner {
 public:
  // `allow_private`: allows receivers at addresses that are not public, whatever their settings.
  // `lease`: how long an export waits for a gateway that died in a round of it, or lost its
  // database; a longer round renews it.
  ExportRunner(Database& database, const Cipher& cipher, HttpClient& http, const Clock& clock,
               bool allow_private = false,
               std::chrono::milliseconds lease = std::chrono::minutes(1))
      : database_(database),
        cipher_(cipher),
        http_(http),
        clock_(clock),
        allow_private_(allow_private),
        lease_(lease) {}

  // Sends one batch of every due export, one after another. Returns how far they got, in booking
  // numbers (also those that no event has) and retried dead letters; more may wait unless it is 0.
  Task<size_t> run_once();
  // Sends what is due until cancelled. Each export goes at its receiver's pace: a slow one delays
  // no other, unless 32 of them are. On one loop.
  Task<void> run();

  // Pause after a failure that follows `failures` others in a row: 2 s doubling to 5 minutes.
  static std::chrono::seconds backoff(int failures);

 private:
  class UnderWay;
  bool is_full() const;
  Task<void> send_backlog(std::string name);
  Task<size_t> run_one(std::string name);
  Task<size_t> send_batch(ExportRow row, int64_t through);
  Task<void> keep_leased(ExportRow row);  // until it is cancelled
  Task<BatchResult> retry_dead_letters(ExportRow row);  // dead letters marked for retry
  Task<BatchResult> deliver(const ExportRow& row, std::vector<ExportEvent> events);

  Database& database_;
  const Cipher& cipher_;
  HttpClient& http_;
  const Clock& clock_;
  const bool allow_private_;
  const std::chrono::milliseconds lease_;
  std::set<std::string> under_way_;  // by run()
};

}  // namespace sandgate
