#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/ports/app_connection.hpp"

namespace sandgate::ports {

// Pool of idle connections to programs in sandboxes, by sandbox and port, each used on the executor
// it was made on. Per port, at most kMaxIdle connections wait and kMaxBusy exchanges run. Of all
// that may wait, a sandbox has at most as many as it leaves free. Thread-safe.
class AppPool {
 public:
  static constexpr size_t kMaxIdle = 64, kMaxBusy = 1024;  // per port
  static constexpr std::chrono::seconds kMaxAge{15};  // idle connections are dropped then

  // Counts one exchange as running until destruction.
  class Slot {
   public:
    Slot(AppPool& pool, std::string key) : pool_(pool), key_(std::move(key)) {}
    ~Slot() { pool_.release(key_); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    const std::string& key() const { return key_; }

   private:
    AppPool& pool_;
    const std::string key_;
  };
  explicit AppPool(size_t max_waiting = usual_max_waiting());
  // 1024, or an eighth of the files that this process may open.
  static size_t usual_max_waiting();

  // Throws Error(unavailable) when kMaxBusy exchanges of the port are running.
  std::unique_ptr<Slot> acquire(std::string key);

  // An idle connection of this executor, idle no longer than `age`; null when there is none.
  std::unique_ptr<AppConnection> take(const std::string& key, const asio::any_io_executor& executor,
                                      std::chrono::milliseconds age = kMaxAge);
  // Keeps the connection for take(), or closes it if too many wait.
  void put(std::unique_ptr<AppConnection> connection);

  // Drops the idle connections of a sandbox; all of them when the id is empty.
  void drop(const std::string& sandbox);
  void sweep();  // drops idle connections that are too old or closed
  Task<void> run();  // sweep every second until cancelled

  size_t waiting() const;
  // For AppConnection::secure().
  asio::ssl::context& tls() { return tls_; }

 private:
  using Connections = std::vector<std::unique_ptr<AppConnection>>;
  struct Port {
    Connections idle;  // the most recently used last
    size_t busy = 0;
  };

  void release(const std::string& key);
  // How many wait for the sandbox of this key. Call with the lock held.
  size_t waiting_for_sandbox_of(const std::string& key) const;
  // Removes the idle connections for which `goes` holds, of keys that begin with `prefix`.
  template <class Goes>
  void remove(const std::string& prefix, Goes goes);
  // Destroys each connection on its own executor.
  static void destroy(Connections connections);

  const size_t max_waiting_;
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  mutable std::mutex mutex_;
  std::map<std::string, Port> ports_;  // in order of key, so that a sandbox's ports are adjacent
  size_t waiting_ = 0;  // in all of them
};

}  // namespace sandgate::ports
