#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/core/ids.hpp"
#include "gateway/core/live.hpp"
#include "gateway/ports/app_connection.hpp"

namespace sandgate::ports {

// Connections to programs in sandboxes that wait for the next request, by sandbox and port, each
// on the loop it was made on. Bounded: at most kMaxIdle wait per port, kMaxBusy exchanges run, and
// of one tenant's ports together as many as the pool was made for. Thread-safe.
class AppPool {
 public:
  static constexpr size_t kMaxIdle = 64, kMaxBusy = 1024;  // per port
  static constexpr std::chrono::seconds kMaxAge{15};  // a waiting connection is dropped then

  // One running exchange.
  class Seat {
   public:
    Seat(AppPool& pool, std::string key, TenantId tenant)
        : pool_(pool), key_(std::move(key)), tenant_(std::move(tenant)) {}
    ~Seat() { pool_.leave(key_, tenant_); }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    const std::string& key() const { return key_; }

   private:
    AppPool& pool_;
    const std::string key_;
    const TenantId tenant_;
  };
  explicit AppPool(size_t most_of_tenant = 2 * kMaxBusy);

  // From now on; exchanges that run go on.
  void set_most_of_tenant(size_t most) { most_of_tenant_ = most; }
  // Throws Error(unavailable) when the port or its tenant has all the exchanges it may have: each
  // holds a connection of a client, and those are for all tenants.
  std::unique_ptr<Seat> enter(std::string key, const TenantId& tenant);

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

  void leave(const std::string& key, const TenantId& tenant);
  // Of those whose key begins so.
  template <class Goes>
  void remove(const std::string& prefix, Goes goes);
  // Each on its own loop.
  static void destroy(Connections connections);

  asio::ssl::context tls_{asio::ssl::context::tls_client};
  mutable std::mutex mutex_;
  std::map<std::string, Port> ports_;  // by key, so that a sandbox's are beside each other
  Live<size_t> most_of_tenant_;
  std::map<std::string, size_t> busy_;  // exchanges of each tenant that has some
};

}  // namespace sandgate::ports
