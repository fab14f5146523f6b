#include "local/node/supervisor/pool_refiller.hpp"

#include <pthread.h>

#include <algorithm>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kLookSoon{4}, kLookAgain{1000};

size_t helpers_on(size_t processors) {
  return std::clamp<size_t>(processors, 1, PoolRefiller::kMaxConcurrent) - 1;
}

}  // namespace

PoolRefiller::PoolRefiller(WarmPool& pool, Work work, size_t processors)
    : pool_(pool),
      work_(std::move(work)),
      idle_helpers_(static_cast<std::ptrdiff_t>(helpers_on(processors))),
      helpers_(helpers_on(processors)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_setname_np(thread_.native_handle(), "warming");
}

PoolRefiller::~PoolRefiller() {
  thread_.request_stop();
  thread_.join();
  helpers_.join();
}

void PoolRefiller::wake() {
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
  }
  woken_.notify_one();
}

void PoolRefiller::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    fill(stop);
    const auto now = std::chrono::steady_clock::now();
    for (const std::string& warm : pool_.surplus(now)) work_.end(warm);
    const auto pause = pool_.lacks(now) ? kLookSoon : kLookAgain;
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, stop, pause, [this] { return std::exchange(asked_, false); });
  }
}

void PoolRefiller::fill(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto wanted = pool_.next_to_make(std::chrono::steady_clock::now());
    if (!wanted) return;
    start_helper(stop);
    make(*wanted);
  }
}

void PoolRefiller::start_helper(const std::stop_token& stop) {
  if (!idle_helpers_.try_acquire()) return;
  const auto another = pool_.next_to_make(std::chrono::steady_clock::now());
  if (!another) return idle_helpers_.release();
  asio::post(helpers_, [this, stop, another = *another] {
    make(another);
    fill(stop);
    idle_helpers_.release();
  });
}

void PoolRefiller::make(const WarmClass& wanted) {
  try {
    pool_.add(wanted, work_.make(wanted));
  } catch (const std::exception& failure) {
    pool_.back_off(wanted, std::chrono::steady_clock::now());
    log::warn("no sandbox made in advance", {{"image", wanted.image}, {"reason", failure.what()}});
  }
}

}  // namespace sandgate
