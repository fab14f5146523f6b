#pragma once
#include <string>

#include "gateway/config/config.hpp"
#include "gateway/core/anchored_clock.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/http/io_threads.hpp"
#include "providers/transport/curl_client.hpp"

namespace sandgate {

// What every part of the gateway needs: settings, threads, the database, the clock and the HTTP
// client for vendors.
struct Foundation {
  // Throws Error(invalid) without a usable master key or machine name, and Error(unavailable) if
  // the name cannot be stored.
  explicit Foundation(const Config& settings);

  // Starts background work.
  void start();
  // See master_key.hpp. Throws Error(conflict) if the database was sealed with another key.
  Task<void> claim_database();
  // Sets the clock to the database's time. Throws Error(unavailable).
  Task<void> anchor_clock();
  // Derives a key for one purpose. The same for all gateways with the same master key.
  Secret key_for(std::string_view purpose) const;

  asio::any_io_executor executor() { return io.executor(); }
  // Runs a task on the io threads and blocks until it ends. Call on the main thread only.
  template <class T>
  T wait(Task<T> task) {
    return asio::co_spawn(executor(), std::move(task), asio::use_future).get();
  }

  Config config;  // a reload changes limits and log, on the main thread
  const std::string machine;  // identifies this gateway among those of one database
  AnchoredClock clock;
  http::IoThreads io;
  Database database;
  Notifications notifications;
  Cipher cipher;
  CurlClient curl;
};

}  // namespace sandgate
