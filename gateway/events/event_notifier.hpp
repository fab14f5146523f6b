#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "gateway/core/auto_reset_event.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// NOTIFY channel of the log. The payload is "<tenant> <subject>" of an added event; the tenant is
// empty for events visible to all.
inline constexpr char kEventsChannel[] = "events";

// Wakes streams that wait for events. Thread-safe; the mutex is never held across co_await.
class EventNotifier {
 public:
  // What a stream waits for: all events, those of a tenant, or those of one of its subjects.
  struct Subscription {
    std::optional<TenantId> tenant;
    std::string subject;  // only with a tenant
  };

  // For one coroutine. A notification since construction or since the last wait ends the next wait
  // at once. To miss nothing, read the log after each wait.
  class Listener {
   public:
    Listener(EventNotifier& all, const Subscription& subscription, asio::any_io_executor executor);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    // Returns when notified, or after `limit`.
    Task<void> wait(std::chrono::milliseconds limit);

   private:
    EventNotifier& all_;
    AutoResetEvent wakeup_;
    std::multimap<std::string, AutoResetEvent*>::iterator entry_;
  };

  // Wakes the listeners of a notification's payload; all of them if it is empty.
  void notify(const std::string& payload);
  // Wakes all listeners, also later ones, for the shutdown of the streams.
  void close();
  bool closed() const;
  size_t listeners() const;

 private:
  static std::string key_of(const Subscription& subscription);
  void wake(const std::string& key);  // requires mutex_

  mutable std::mutex mutex_;
  bool closed_ = false;
  std::multimap<std::string, AutoResetEvent*> waiting_;
};

}  // namespace sandgate
