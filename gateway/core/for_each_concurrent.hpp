#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace parallel {

template <class T, class F>
struct Work {
  std::vector<T> items;
  F task;
  size_t next = 0;
};

template <class T, class F>
Task<void> run_worker(std::shared_ptr<Work<T, F>> work) {
  while (work->next < work->items.size()) {
    T item = std::move(work->items[work->next++]);
    auto outcome = co_await attempt(work->task(std::move(item)));
    if (const auto* error = std::get_if<Error>(&outcome))
      log::warn("background work failed", {{"reason", error->what()}});
  }
}

template <class T, class F>
Task<void> run_workers(std::shared_ptr<Work<T, F>> work, size_t at_once) {
  using namespace asio::experimental::awaitable_operators;
  if (at_once <= 1 || work->items.size() <= 1)
    co_await run_worker(work);
  else
    co_await (run_worker(work) && run_workers(work, std::min(at_once, work->items.size()) - 1));
}

}  // namespace parallel

// Runs `task(item)`, a Task<void>, for every item, at most `at_once` at a time; Errors are logged.
// All tasks run on one strand, so that they need no locks for shared state.
template <class T, class F>
Task<void> for_each_concurrent(std::vector<T> items, size_t at_once, F task) {
  if (items.empty()) co_return;
  auto work = std::make_shared<parallel::Work<T, F>>(
      parallel::Work<T, F>{std::move(items), std::move(task)});
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  auto body = [work, at_once]() -> Task<void> { return parallel::run_workers(work, at_once); };
  co_await asio::co_spawn(asio::make_strand(executor), std::move(body), asio::use_awaitable);
}

}  // namespace sandgate
