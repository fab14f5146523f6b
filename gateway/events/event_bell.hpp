#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "gateway/core/bell.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// NOTIFY channel of the log: the payload is "<tenant> <subject>" of what was added, the tenant
// empty for what concerns everybody.
inline constexpr char kEventsChannel[] = "events";

// Wakes streams that wait for events. Thread-safe; a mutex, never awaited under.
class EventBell {
 public:
  // What a stream waits for: everything, what concerns a tenant, or one subject of it.
  struct Interest {
    std::optional<TenantId> tenant;
    std::string subject;  // only with a tenant
  };

  // For one coroutine. Whatever was rung since it was made, or since the last wait, ends a wait at
  // once: read after waiting, and nothing is missed.
  class Listener {
   public:
    Listener(EventBell& all, const Interest& interest, asio::any_io_executor executor);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    // Returns when rung for, or after `limit`.
    Task<void> wait(std::chrono::milliseconds limit);

   private:
    EventBell& all_;
    Bell bell_;
    std::multimap<std::string, Bell*>::iterator entry_;
  };

  // With a notification's payload; an empty one wakes everybody.
  void ring(const std::string& payload);
  // Ends the streams: wakes everybody for the last time.
  void close();
  bool closed() const;
  size_t listeners() const;

 private:
  static std::string key_of(const Interest& interest);
  void wake(const std::string& key);  // with the mutex held

  mutable std::mutex mutex_;
  bool closed_ = false;
  std::multimap<std::string, Bell*> waiting_;
};

}  // namespace sandgate
