#include "gateway/app/background.hpp"

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kRemovalPause{100};

// Swallows every exception so that the work continues: it is never cancelled.
Task<void> logged(std::string name, std::function<Task<void>()> work) {
  try {
    co_await work();
  } catch (const Error& error) {
    // Whoever first notices a database outage logs it; repeating it here adds nothing.
    if (error.code != ErrorCode::unavailable)
      log::warn("background work failed", {{"work", name}, {"reason", error.what()}});
  } catch (const std::exception& failure) {
    log::error("background work failed", {{"work", name}, {"reason", failure.what()}});
  }
}

}  // namespace

void repeat(asio::any_io_executor executor, std::string name, std::chrono::milliseconds period,
            std::function<Task<void>()> step) {
  auto work = [name = std::move(name), period, step = std::move(step)]() -> Task<void> {
    for (;;) {
      co_await logged(name, step);
      co_await sleep_for(period);
    }
  };
  spawn_detached(executor, std::move(work));
}

void repeat_until_none(asio::any_io_executor executor, std::string name,
                       std::chrono::milliseconds period, std::function<Task<size_t>()> step) {
  auto round = [step = std::move(step)]() -> Task<void> {
    for (size_t gone = 1; gone > 0;) {
      gone = co_await step();
      co_await sleep_for(kRemovalPause);
    }
  };
  repeat(executor, std::move(name), period, std::move(round));
}

void keep_running(asio::any_io_executor executor, std::string name,
                  std::function<Task<void>()> loop) {
  repeat(executor, std::move(name), std::chrono::seconds(1), std::move(loop));
}

}  // namespace sandgate
