#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/ports/app_connection.hpp"

namespace sandgate::ports {

// Connections to programs in sandboxes that wait for the next request, by sandbox and port, each
// on the loop it was made on. Bounded: at most kMaxIdle wait per port and kMaxBusy exchanges run.
// Thread-safe.
class AppPool {
 public:
  static constexpr size_t kMaxIdle = 64, kMaxBusy = 1024;  // per port
  static constexpr std::chrono::seconds kMaxAge{15};  // a waiting connection is dropped then

  // One running exchange.
  class Seat {
   public:
    Seat(AppPool& pool, std::string key) : pool_(pool), key_(std::move(key)) {}
    ~Seat() { pool_.leave(key_); }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    const std::string& key() const { return key_; }

   private:
    AppPool& pool_;
    const std::string key_;
  };
  AppPool();

  // Throws Error(unavailable) when the port has all the exchanges it may have.
  std::unique_ptr<Seat> enter(std::string key);

  // One that waits on this loop, not longer than `age`; null when there is none.
  std::unique_ptr<AppConnection> take(const std::string& key, const asio::any_io_executor& executor,
                                      std::chrono::milliseconds age = kMaxAge);
  void put(std::unique_ptr<AppConnection> connection);

  // Drops those of a sandbox; of all when the id is empty.
  void drop(const std::string& sandbox);
  void sweep();  // those that are too old or were ended
  Task<void> run();  // sweep every second until cancelled

  size_t waiting() const;
  // For connections that are to be secured.
  asio::ssl::context& tls() { return tls_; }

 private:
  using Connections = std::vector<std::unique_ptr<AppConnection>>;
  struct Port {
    Connections idle;  // used last at the end
    size_t busy = 0;
  };

  void leave(const std::string& key);
  // Of those whose key begins so.
  template <class Goes>
  void remove(const std::string& prefix, Goes goes);
  // Each on its own loop.
  static void destroy(Connections connections);

  asio::ssl::context tls_{asio::ssl::context::tls_client};
  mutable std::mutex mutex_;
  std::map<std::string, Port> ports_;  // by key, so that a sandbox's are beside each other
};

}  // namespace sandgate::ports
