#pragma once
#include <utility>

#include "gateway/core/settle.hpp"

namespace sandgate {

// Runs two tasks concurrently and waits for both, even if one fails. Then rethrows the failure of
// `first`, or else of `second`. Asio's `&&` would instead cancel the other task and throw an
// exception that is neither task's own.
template <class A, class B>
Task<std::pair<A, B>> both(Task<A> first, Task<B> second) {
  using namespace asio::experimental::awaitable_operators;
  Settled<A> one;
  Settled<B> other;
  auto ends = settle(std::move(first), one) && settle(std::move(second), other);
  co_await std::move(ends);
  A value = one.take();
  co_return std::pair<A, B>(std::move(value), other.take());
}

}  // namespace sandgate
