#pragma once
#include <memory>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// The W3C trace context that a request came with. It is attached to the executor that the request's
// coroutines run on, so that outgoing calls find it without passing it through every function.
struct Trace {
  std::string parent;  // traceparent
  std::string state;  // tracestate, or empty

  std::string id() const { return parent.substr(3, 32); }
};
using TracePtr = std::shared_ptr<const Trace>;

// Returns an executor that carries the trace; `executor` itself if the trace is null.
asio::any_io_executor traced(asio::any_io_executor executor, TracePtr trace);
// Returns the trace carried by the executor or by the executor under a strand; null if there is
// none.
TracePtr trace_of(const asio::any_io_executor& executor);

// Runs the task on the current executor with the trace attached.
template <class T>
Task<T> with_trace(TracePtr trace, Task<T> task) {
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  const asio::any_io_executor there = traced(here, std::move(trace));
  co_return co_await asio::co_spawn(there, std::move(task), asio::use_awaitable);
}

}  // namespace sandgate
