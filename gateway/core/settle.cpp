#include "gateway/core/settle.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>

namespace sandgate {
namespace {

// Shared with the task, which may outlive the one that waits for it.
struct Waiting {
  explicit Waiting(asio::any_io_executor executor) : timer(std::move(executor)) {}
  asio::steady_timer timer;
  asio::cancellation_signal cancel;
  bool ended = false;
};

void launch(const asio::any_io_executor& executor, Task<void> task,
            const std::shared_ptr<Waiting>& waiting) {
  auto end = [waiting](const std::exception_ptr&) {
    waiting->ended = true;
    waiting->timer.cancel();
  };
  asio::co_spawn(executor, std::move(task),
                 asio::bind_cancellation_slot(waiting->cancel.slot(), std::move(end)));
}

}  // namespace

Task<void> settle(Task<void> task, Settled<void>& settled) {
  try {
    co_await std::move(task);
  } catch (...) {
    settled.failure = std::current_exception();
  }
}

Task<bool> ends_before(Task<void> task, Task<void> other) {
  using namespace asio::experimental::awaitable_operators;
  auto race = std::move(task) || std::move(other);
  const auto winner = co_await std::move(race);
  co_return winner.index() == 0;
}

Task<bool> ends_unless_detached(Task<void> task, std::chrono::steady_clock::duration every,
                                std::function<Task<bool>()> should_detach) {
  const auto executor = co_await asio::this_coro::executor;
  const auto waiting = std::make_shared<Waiting>(executor);
  launch(executor, std::move(task), waiting);
  try {
    for (bool left = false; !left && !waiting->ended;) {
      waiting->timer.expires_after(every);
      boost::system::error_code cancelled;
      co_await waiting->timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
      if (waiting->ended) break;
      if (cancelled) throw boost::system::system_error(cancelled);
      auto asking = should_detach();
      left = co_await std::move(asking);
    }
  } catch (...) {
    if (!waiting->ended) waiting->cancel.emit(asio::cancellation_type::all);
    throw;
  }
  co_return waiting->ended;
}

// Most timers are cancelled, since most tasks end in time. As a task of its own a timer would end
// with an exception then, which costs more than all the rest.
Task<bool> ends_within(std::chrono::steady_clock::duration limit, Task<void> task) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, limit);
  const auto [order, failure, timing] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, std::move(task), asio::deferred),
          timer.async_wait(asio::deferred))
          .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  const bool was_cancelled = timing == asio::error::operation_aborted;
  if (order[0] != 0 && !was_cancelled) co_return false;
  if (failure) std::rethrow_exception(failure);
  co_return true;
}

Task<std::optional<std::monostate>> with_timeout(std::chrono::steady_clock::duration limit,
                                                 Task<void> task) {
  Settled<void> settled;
  auto race = ends_within(limit, settle(std::move(task), settled));
  const bool in_time = co_await std::move(race);
  if (!in_time) co_return std::nullopt;
  settled.take();
  co_return std::monostate();
}

Task<void> ends_beside(Task<void> task, Task<void> companion) {
  using namespace asio::experimental::awaitable_operators;
  auto race = std::move(task) || then_wait_forever(std::move(companion));
  co_await std::move(race);
}

Task<void> then_wait_forever(Task<void> task) {
  try {
    co_await std::move(task);
  } catch (const std::exception&) {
    // A companion's failure either shows in the main task or does not matter.
  }
  asio::steady_timer forever(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
  co_await forever.async_wait(asio::use_awaitable);
}

}  // namespace sandgate
