#pragma once
#include "gateway/core/database.hpp"
#include "gateway/exports/export_rows.hpp"

namespace sandgate {

// Sends booked usage to where exports say, in the order of booking. Replicas take turns by a lease
// per export. The cursor moves after the receiver has answered: a crash in between sends some
// events again, which receivers know by their ids.
class ExportRunner {
 public:
  // `allow_private`: receivers may be at addresses that are not public, whatever their settings.
  ExportRunner(Database& database, const Vault& vault, HttpClient& http, const Clock& clock,
               bool allow_private = false)
      : database_(database),
        vault_(vault),
        http_(http),
        clock_(clock),
        allow_private_(allow_private) {}

  // One batch of every export that is due. Returns how many events were settled; more may wait.
  Task<size_t> run_once();

  // How long to wait after so many failures in a row: 2 s doubling to 5 minutes.
  static std::chrono::seconds backoff(int failures);

 private:
  Task<size_t> run_one(std::string name, int64_t through);
  Task<size_t> send_again(ExportRow row);
  Task<Delivery> deliver(const ExportRow& row, std::vector<ExportEvent> events);

  Database& database_;
  const Vault& vault_;
  HttpClient& http_;
  const Clock& clock_;
  const bool allow_private_;
};

}  // namespace sandgate
