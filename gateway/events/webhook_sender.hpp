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
#include "providers/transport/http_client.hpp"

namespace sandgate {

// Sends events to webhooks, each at least once. Deliveries are leased by row, so any number of
// replicas may run a sender, and a crash loses nothing. A failed delivery is retried with growing
// pauses for a day; a failing receiver gets one request at a time. Redirects count as failures.
// Without allow_private, addresses that are not public are refused.
class WebhookSender {
 public:
  struct Options {
    bool allow_private = false;
    size_t at_once = 128;  // 8 per webhook, 32 per owner
    std::chrono::milliseconds deadline{10'000};  // of one delivery, to the response's head
    // How long what a killed gateway was sending waits; must exceed deadline and what follows it.
    std::chrono::milliseconds lease{20'000};
    std::chrono::seconds patience{24 * 3600};
  };
  WebhookSender(Database& database, const Cipher& cipher, HttpClient& client, const Clock& clock,
                Options options)
      : database_(database), cipher_(cipher), client_(client), clock_(clock), options_(options) {}

  // Sends one batch of due deliveries, one after another; returns how many.
  Task<size_t> step();
  // Sends due deliveries until cancelled; a slow receiver delays only its own.
  Task<void> run();
  // Makes run() look for deliveries. Thread-safe: for Notifications ('events').
  void wake() { wake_pending_ = true; }

  // Writes sandgate_webhook_deliveries_total and sandgate_webhook_deliveries_in_flight.
  void render(MetricText& out) const;

 private:
  using Deliveries = std::vector<delivery_rows::Delivery>;
  class UnderWay;
  Task<Deliveries> take(size_t most);
  // Tries once and records the result. Throws nothing.
  Task<void> deliver(delivery_rows::Delivery delivery);
  // Why the delivery failed; empty on success.
  Task<std::string> send(const delivery_rows::Delivery& delivery);
  Task<void> record(delivery_rows::Delivery delivery, std::string failure);
  HttpCall call_for(const delivery_rows::Delivery& delivery) const;

  Database& database_;
  const Cipher& cipher_;
  HttpClient& client_;
  const Clock& clock_;
  const Options options_;
  std::atomic<bool> wake_pending_{true};
  mutable std::mutex mutex_;
  std::multiset<int64_t> under_way_;  // webhook row ids, one per delivery
  std::atomic<uint64_t> delivered_{0}, failed_{0}, given_up_{0};
};

}  // namespace sandgate
