#pragma once
#include <string>

#include "gateway/config/config.hpp"
#include "gateway/core/anchored_clock.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/http/io_threads.hpp"
#include "providers/curl_client.hpp"

namespace sandgate {

// What every part of the gateway stands on: settings, threads, the database, the clock and the way
// to vendors.
struct Foundation {
  // Throws Error(invalid) without a usable master key, Error(unavailable) when this machine's name
  // cannot be kept.
  explicit Foundation(const Config& settings);

  // Takes up what runs by itself.
  void start();
  // Sets the clock by the database's. Throws Error(unavailable).
  Task<void> anchor_clock();
  // A key for one purpose alone, the same in all gateways with this master key.
  Secret key_for(std::string_view purpose) const;

  asio::any_io_executor executor() { return io.executor(); }
  // Runs the task on the loops and blocks until it is over: for the main thread.
  template <class T>
  T wait(Task<T> task) {
    return asio::co_spawn(executor(), std::move(task), asio::use_future).get();
  }

  Config config;  // limits and log change with a reload, on the main thread
  const std::string machine;  // which of the gateways of one database this is
  AnchoredClock clock;
  http::IoThreads io;
  Database database;
  Notifications notifications;
  Vault vault;
  CurlClient curl;
};

}  // namespace sandgate
