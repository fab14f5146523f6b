#include "local/agent/loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "gateway/core/error.hpp"

namespace sandgate::agent {

Loop::Loop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw Error(ErrorCode::internal, "the agent has no epoll");
}

Loop::Id Loop::watch(int fd, uint32_t events, Ready ready) {
  const Id id = next_id_++;
  watches_[id] = {fd, 0, std::make_shared<Ready>(std::move(ready))};
  change(id, events);
  return id;
}

void Loop::change(Id id, uint32_t events) {
  const auto found = watches_.find(id);
  if (found == watches_.end() || found->second.events == events) return;
  Watch& watch = found->second;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  // EPOLLHUP cannot be masked, so a descriptor without wanted events leaves the set.
  const int verb = events == 0 ? EPOLL_CTL_DEL : watch.events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_.get(), verb, watch.fd, &event) != 0)
    throw Error(ErrorCode::internal, "the agent cannot watch a descriptor");
  watch.events = events;
}

void Loop::drop(Id id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  if (found->second.events != 0)
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.fd, nullptr);
  watches_.erase(found);
}

Loop::Id Loop::at(Instant when, std::function<void()> call) {
  const Id id = next_id_++;
  timers_.emplace(std::pair(when, id), std::move(call));
  timer_times_[id] = when;
  return id;
}

void Loop::cancel(Id timer) {
  const auto found = timer_times_.find(timer);
  if (found == timer_times_.end()) return;
  timers_.erase({found->second, timer});
  timer_times_.erase(found);
}

int Loop::wait_ms() {
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 60'000));
}

void Loop::fire_timers() {
  const Instant time = now();
  while (!timers_.empty() && timers_.begin()->first.first <= time) {
    auto timer = timers_.extract(timers_.begin());
    timer_times_.erase(timer.key().second);
    timer.mapped()();
  }
}

void Loop::run() {
  epoll_event events[64];
  while (running_) {
    const int count = ::epoll_wait(epoll_.get(), events, 64, wait_ms());
    if (count < 0 && errno != EINTR) throw Error(ErrorCode::internal, "the agent's loop broke");
    for (int i = 0; i < count; ++i) {
      const auto found = watches_.find(events[i].data.u64);
      if (found == watches_.end()) continue;
      // The callback may drop its own watch.
      const std::shared_ptr<Ready> ready = found->second.ready;
      (*ready)(events[i].events);
    }
    fire_timers();
  }
}

}  // namespace sandgate::agent
