#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>

#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/events/delivery_rows.hpp"
#include "providers/http_client.hpp"

namespace sandgate {

// Sends events to webhooks: at least once each, leased by row, so that any number of replicas may
// run one and a killed one loses nothing. A failed delivery is tried again with growing pauses for
// a day; a receiver that failed last gets one request at a time. Redirects are failures, and
// addresses that are not public are not connected to unless allow_private.
class WebhookSender {
 public:
  struct Options {
    bool allow_private = false;
    size_t at_once = 128;  // eight to each webhook, and 32 to those of one owner
    std::chrono::milliseconds deadline{10'000};  // of one delivery, up to the answer's head
    std::chrono::milliseconds lease{60'000};  // must exceed deadline
    std::chrono::seconds patience{24 * 3600};
  };
  WebhookSender(Database& database, const Vault& vault, HttpClient& client, const Clock& clock,
                Options options)
      : database_(database), vault_(vault), client_(client), clock_(clock), options_(options) {}

  // Delivers what is due now, one batch; returns how many were tried.
  Task<size_t> step();
  // Delivers for ever; a slow receiver delays only itself.
  Task<void> run();
  // Tells run() that there may be something to send. Thread-safe: for Notifications ('events').
  void poke() { poked_ = true; }

  // Writes sandgate_webhook_deliveries_total and sandgate_webhook_deliveries_in_flight.
  void render(MetricText& out) const;

 private:
  using Deliveries = std::vector<delivery_rows::Delivery>;
  class UnderWay;
  Task<Deliveries> take(size_t most);
  // Tries once and writes down what came of it. Throws nothing.
  Task<void> deliver(delivery_rows::Delivery delivery);
  // Why the receiver has not got it; empty when it has.
  Task<std::string> send(const delivery_rows::Delivery& delivery);
  Task<void> settle(delivery_rows::Delivery delivery, std::string failure);
  HttpCall call_for(const delivery_rows::Delivery& delivery) const;

  Database& database_;
  const Vault& vault_;
  HttpClient& client_;
  const Clock& clock_;
  const Options options_;
  std::atomic<bool> poked_{true};
  mutable std::mutex mutex_;
  std::multiset<int64_t> under_way_;  // row ids of webhooks
  std::atomic<uint64_t> delivered_{0}, failed_{0}, given_up_{0};
};

}  // namespace sandgate
