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

// Runs work to its end even when the awaiting task is cancelled, on the caller's executor and as
// part of its trace. `work` returns a Task of a value.
template <class F>
auto uncancelled(F work) -> std::invoke_result_t<F&> {
  auto task = shielded(std::move(work));
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  co_return co_await asio::co_spawn(here, std::move(task), asio::use_awaitable);
}

}  // namespace sandgate
