#pragma once
#include <utility>

#include "gateway/core/settle.hpp"

namespace sandgate {

// Runs two tasks beside each other to both their ends, also when one fails; throws what the first
// threw, or else what the second did. Asio's own `&&` cancels the other instead, and what it throws
// then is neither's failure.
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
