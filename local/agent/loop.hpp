#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "local/agent/files/file.hpp"
#include "local/agent/pausable_clock.hpp"

namespace sandgate::agent {

// A single-threaded epoll event loop with descriptor callbacks and timers. Its time stands still
// while the sandbox is paused.
class Loop {
 public:
  using Id = uint64_t;
  using Ready = std::function<void(uint32_t events)>;
  using Instant = PausableClock::Instant;

  Loop();

  // Calls `ready` whenever one of the events is pending (level-triggered). With 0 events the watch
  // is suspended and does not report hang-ups either. `fd` is not owned and outlives the watch.
  Id watch(int fd, uint32_t events, Ready ready);
  void change(Id id, uint32_t events);
  void drop(Id id);  // safe from inside any callback; unknown ids are ignored

  PausableClock& clock() { return clock_; }
  Instant now() { return clock_.now(); }
  Id at(Instant when, std::function<void()> call);
  void cancel(Id timer);  // unknown ids are ignored

  void run();  // until stop()
  void stop() { running_ = false; }

 private:
  struct Watch {
    int fd;
    uint32_t events;
    std::shared_ptr<Ready> ready;
  };

  int wait_ms();
  void fire_timers();

  PausableClock clock_;
  Fd epoll_;
  bool running_ = true;
  Id next_id_ = 1;
  std::map<Id, Watch> watches_;
  std::map<std::pair<Instant, Id>, std::function<void()>> timers_;
  std::map<Id, Instant> timer_times_;
};

}  // namespace sandgate::agent
