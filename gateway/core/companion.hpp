#pragma once
#include <exception>
#include <optional>

#include "gateway/core/async.hpp"

namespace sandgate {
namespace companion {

// A struct, because Asio would fold a variant of ours into the one it makes.
template <class T>
struct Settled {
  std::optional<T> value;
  std::exception_ptr failure;
};

template <class T>
Task<Settled<T>> settle(Task<T> task) {
  Settled<T> settled;
  try {
    settled.value.emplace(co_await std::move(task));
  } catch (...) {
    settled.failure = std::current_exception();
  }
  co_return std::move(settled);
}

// Never ends by itself, so that a race against it is decided by the other side.
inline Task<void> linger(Task<void> task) {
  try {
    co_await std::move(task);
  } catch (const std::exception&) {
    // The companion's failure shows in the main task, or does not matter.
  }
  asio::steady_timer forever(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
  co_await forever.async_wait(asio::use_awaitable);
}

}  // namespace companion

// Runs `main` and, on the same executor, `companion` beside it; ends as `main` ends (value or
// exception) and cancels the companion then. What the companion throws is dropped.
template <class T>
Task<T> with_companion(Task<T> main, Task<void> companion) {
  using namespace asio::experimental::awaitable_operators;
  auto winner =
      co_await (companion::settle(std::move(main)) || companion::linger(std::move(companion)));
  auto settled = std::move(std::get<0>(winner));
  if (settled.failure) std::rethrow_exception(settled.failure);
  co_return std::move(*settled.value);
}

}  // namespace sandgate
