#include "gateway/core/trace.hpp"

namespace sandgate {
namespace {

// Wraps an executor and adds a trace. Forwards queries and properties to the wrapped executor.
class TracedExecutor {
 public:
  TracedExecutor(asio::any_io_executor inner, TracePtr trace) noexcept
      : inner_(std::move(inner)), trace_(std::move(trace)) {}

  const TracePtr& trace() const { return trace_; }

  template <class F>
  void execute(F&& work) const {
    inner_.execute(std::forward<F>(work));
  }
  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return asio::query(inner_, asio::execution::context);
  }
  template <class Property>
  requires asio::can_require<const asio::any_io_executor&, Property>::value TracedExecutor
  require(const Property& property)
  const { return {asio::require(inner_, property), trace_}; }
  template <class Property>
  requires asio::can_prefer<const asio::any_io_executor&, Property>::value TracedExecutor
  prefer(const Property& property)
  const { return {asio::prefer(inner_, property), trace_}; }
  bool operator==(const TracedExecutor& other) const noexcept {
    return inner_ == other.inner_ && trace_ == other.trace_;
  }
  bool operator!=(const TracedExecutor& other) const noexcept { return !(*this == other); }

 private:
  asio::any_io_executor inner_;
  TracePtr trace_;
};

}  // namespace

asio::any_io_executor traced(asio::any_io_executor executor, TracePtr trace) {
  if (!trace) return executor;
  return TracedExecutor(std::move(executor), std::move(trace));
}

TracePtr trace_of(const asio::any_io_executor& executor) {
  if (const auto* found = executor.target<TracedExecutor>()) return found->trace();
  const auto* strand = executor.target<asio::strand<asio::any_io_executor>>();
  return strand ? trace_of(strand->get_inner_executor()) : nullptr;
}

}  // namespace sandgate
