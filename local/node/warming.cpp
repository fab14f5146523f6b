#include "local/node/warming.hpp"

#include <pthread.h>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kLookSoon{4}, kLookAgain{1000};

}  // namespace

Warming::Warming(WarmPool& pool, Work work) : pool_(pool), work_(std::move(work)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_setname_np(thread_.native_handle(), "warming");
}

Warming::~Warming() = default;

void Warming::wake() {
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
  }
  woken_.notify_one();
}

void Warming::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    fill(stop);
    const auto now = std::chrono::steady_clock::now();
    for (const std::string& seat : pool_.surplus(now)) work_.end(seat);
    const auto pause = pool_.lacks(now) ? kLookSoon : kLookAgain;
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, stop, pause, [this] { return std::exchange(asked_, false); });
  }
}

void Warming::fill(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto wanted = pool_.next_to_make(std::chrono::steady_clock::now());
    if (!wanted) return;
    try {
      pool_.add(*wanted, work_.make(*wanted));
    } catch (const std::exception& failure) {
      pool_.give_up(*wanted, std::chrono::steady_clock::now());
      log::warn("no sandbox made in advance",
                {{"image", wanted->image}, {"reason", failure.what()}});
    }
  }
}

}  // namespace sandgate
