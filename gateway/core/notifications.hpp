#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sandgate {

// PostgreSQL's LISTEN on a connection and thread of its own: how replicas tell each other that
// something cached has changed (`SELECT pg_notify(channel, payload)` inside a transaction).
//
// Callbacks run on that thread: they must be quick and thread-safe. After every (re)connect each
// is called once with an empty payload, which means that anything may have changed meanwhile.
class Notifications {
 public:
  explicit Notifications(std::string url);
  ~Notifications();
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  using Callback = std::function<void(const std::string& payload)>;
  // Only before start(). `channel` is an SQL identifier of ours.
  void subscribe(std::string channel, Callback callback);
  void start();
  // No callback is called after it. What callbacks use has to outlive it, or the object.
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
