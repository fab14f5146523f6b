#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <pqxx/pqxx>

namespace sandgate {

// Notifies every replica when the transaction commits: something cached has changed.
void notify(pqxx::work& tx, const std::string& channel, const std::string& payload);

// Receives PostgreSQL notifications (LISTEN) on a dedicated connection and thread. Replicas use
// them for cache invalidation.
//
// Callbacks run on that thread: they must be quick and thread-safe. After every connect or
// reconnect each callback is called once with an empty payload: anything may have changed
// meanwhile.
class Notifications {
 public:
  explicit Notifications(std::string url);
  ~Notifications();
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  using Callback = std::function<void(const std::string& payload)>;
  // Call only before start(). `channel` must be a trusted SQL identifier.
  void subscribe(std::string channel, Callback callback);
  void start();
  // Joins the thread: within about 250 ms, or the connect timeout while it connects. No callback
  // runs afterwards. The destructor calls it.
  void stop();

 private:
  void listen();
  void listen_until_broken();

  std::string url_;
  std::map<std::string, std::vector<Callback>> callbacks_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace sandgate
