#pragma once
#include <type_traits>
#include <utility>

#include "gateway/core/async.hpp"

namespace sandgate {

template <class F>
auto shielded(F work) -> std::invoke_result_t<F&> {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_return co_await work();
}

// Runs work to its end even when whoever waits for it is cancelled: on the caller's loop, as part
// of its trace. `work` returns a Task of a value.
template <class F>
auto uncancelled(F work) -> std::invoke_result_t<F&> {
  auto task = shielded(std::move(work));
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  co_return co_await asio::co_spawn(here, std::move(task), asio::use_awaitable);
}

// Whether a backend's refusal leaves no doubt that nothing happened.
inline bool is_certain(const Error& error) {
  return error.code != ErrorCode::timeout && error.code != ErrorCode::unavailable &&
         error.code != ErrorCode::internal;
}

// The same, and asking again later would not help.
inline bool is_final(const Error& error) {
  return is_certain(error) && error.code != ErrorCode::rate_limited &&
         error.code != ErrorCode::no_capacity;
}

}  // namespace sandgate
