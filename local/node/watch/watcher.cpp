#include "local/node/watch/watcher.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <chrono>

#include "local/namespaces/step_error.hpp"

namespace sandgate {

Watcher::Watcher(std::function<void(const std::string&)> on_exit, std::function<void()> on_tick)
    : on_exit_(std::move(on_exit)), on_tick_(std::move(on_tick)) {
  epoll_ = check_fd(epoll_create1(EPOLL_CLOEXEC), "epoll");
  stop_ = check_fd(eventfd(0, EFD_CLOEXEC), "eventfd");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  check(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_.get(), &event), "epoll add");
  thread_ = std::jthread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "watcher");
}

Watcher::~Watcher() { eventfd_write(stop_.get(), 1); }

void Watcher::add(const std::string& id, int pidfd) {
  Fd own = check_fd(fcntl(pidfd, F_DUPFD_CLOEXEC, 0), "watch process");
  std::lock_guard lock(mutex_);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = next_key_;
  check(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, own.get(), &event), "watch process");
  watched_.emplace(next_key_++, Watched{id, std::move(own)});
}

void Watcher::report(uint64_t key) {
  std::string id;
  {
    std::lock_guard lock(mutex_);
    auto found = watched_.find(key);
    if (found == watched_.end()) return;
    // close() alone keeps the epoll entry while other duplicates of the pidfd are open; adding a
    // later duplicate with the same number would then fail.
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.pidfd.get(), nullptr);
    id = std::move(found->second.id);
    watched_.erase(found);
  }
  on_exit_(id);
}

void Watcher::run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point ticked = Clock::now();
  for (;;) {
    epoll_event events[64];
    int count = epoll_wait(epoll_.get(), events, 64, 1000);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.u64 == 0) return;
      report(events[i].data.u64);
    }
    if (Clock::now() - ticked >= std::chrono::seconds(1)) {
      ticked = Clock::now();
      on_tick_();
    }
  }
}

}  // namespace sandgate
