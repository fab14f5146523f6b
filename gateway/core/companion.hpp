#pragma once
#include <exception>
#include <variant>

#include "gateway/core/async.hpp"

namespace sandgate {
namespace companion {

template <class T>
using Settled = std::variant<std::monostate, T, std::exception_ptr>;

template <class T>
Task<Settled<T>> settle(Task<T> task) {
  try {
    co_return Settled<T>(std::in_place_index<1>, co_await std::move(task));
  } catch (...) {
    co_return Settled<T>(std::in_place_index<2>, std::current_exception());
  }
}

// Never ends by itself, so that a race against it is decided by the other side.
inline Task<void> linger(Task<void> task) {
  try {
    co_await std::move(task);
  } catch (const std::exception&) {
    // The companion's failure shows in the main task, or does not matter.
  }
  asio::steady_timer forever(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
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
  if (settled.index() == 2) std::rethrow_exception(std::get<2>(settled));
  co_return std::move(std::get<1>(settled));
}

}  // namespace sandgate
