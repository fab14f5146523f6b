#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "local/agent/file.hpp"

namespace sandgate::agent {

// One thread's epoll loop: callbacks on ready descriptors and at points in time.
class Loop {
 public:
  using Id = uint64_t;
  using Ready = std::function<void(uint32_t events)>;
  using Instant = std::chrono::steady_clock::time_point;

  Loop();

  // Calls `ready` whenever one of the (level-triggered) events is there. 0 events: not at all, not
  // even for a hang-up. The descriptor stays the caller's and outlives the watch.
  Id watch(int fd, uint32_t events, Ready ready);
  void change(Id id, uint32_t events);
  void drop(Id id);  // safe from inside any callback; unknown ids are ignored

  Id at(Instant when, std::function<void()> call);
  void cancel(Id timer);

  void run();  // until stop()
  void stop() { running_ = false; }

 private:
  struct Watch {
    int fd;
    uint32_t events;
    std::shared_ptr<Ready> ready;
  };

  int wait_ms() const;
  void fire_timers();

  File epoll_;
  bool running_ = true;
  Id next_id_ = 1;
  std::map<Id, Watch> watches_;
  std::map<std::pair<Instant, Id>, std::function<void()>> timers_;
  std::map<Id, Instant> timer_times_;
};

}  // namespace sandgate::agent
