#pragma once
#include <memory>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// Whose doing something is, as the caller said by the headers of W3C's trace context. It travels
// with the executor that coroutines run on, so that what they call need not hand it on: whoever
// talks to somebody else finds it there.
struct Trace {
  std::string parent;  // traceparent
  std::string state;  // tracestate, or empty

  std::string id() const { return parent.substr(3, 32); }
};
using TracePtr = std::shared_ptr<const Trace>;

// The executor, where what runs belongs to the trace; the executor itself when that is null.
asio::any_io_executor traced(asio::any_io_executor executor, TracePtr trace);
// The trace of what runs on the executor, or on a strand over it; null when it belongs to none.
TracePtr trace_of(const asio::any_io_executor& executor);

// Runs the task as part of the trace.
template <class T>
Task<T> under(TracePtr trace, Task<T> task) {
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  const asio::any_io_executor there = traced(here, std::move(trace));
  co_return co_await asio::co_spawn(there, std::move(task), asio::use_awaitable);
}

}  // namespace sandgate
