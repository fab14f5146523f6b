#pragma once
#include <exception>
#include <optional>

#include "gateway/core/async.hpp"

namespace sandgate::test {

// An event loop that persists between calls, for objects with background coroutines.
class LiveLoop {
 public:
  asio::any_io_executor executor() { return loop_.get_executor(); }

  template <class T>
  T run(Task<T> task) {
    bool done = false;
    std::exception_ptr failure;
    std::conditional_t<std::is_void_v<T>, int, std::optional<T>> result{};
    auto finish = [&](std::exception_ptr thrown, auto... value) {
      done = true;
      failure = thrown;
      if constexpr (sizeof...(value) > 0) result.emplace(std::move(value)...);
    };
    asio::co_spawn(loop_, std::move(task), finish);
    while (!done) loop_.run_one();
    if (failure) std::rethrow_exception(failure);
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

 private:
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(loop_);
};

}  // namespace sandgate::test
