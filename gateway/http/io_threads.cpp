#include "gateway/http/io_threads.hpp"

#include <pthread.h>

#include <typeinfo>

#include "gateway/core/log.hpp"

namespace sandgate::http {
namespace {

void run_until_stopped(asio::io_context& loop) {
  for (;;) {
    try {
      loop.run();
      return;
    } catch (const std::exception& failure) {
      log::error("background work failed",
                 {{"type", typeid(failure).name()}, {"reason", failure.what()}});
    }
  }
}

}  // namespace

IoThreads::IoThreads(size_t threads) {
  for (size_t i = 0; i < std::max<size_t>(threads, 1); ++i) {
    loops_.push_back(std::make_unique<asio::io_context>(1));
    guards_.emplace_back(loops_.back()->get_executor());
  }
}

IoThreads::~IoThreads() { stop(); }

asio::any_io_executor IoThreads::executor() {
  return loops_[next_.fetch_add(1, std::memory_order_relaxed) % loops_.size()]->get_executor();
}

void IoThreads::start() {
  for (auto& loop : loops_) {
    threads_.emplace_back([&loop] { run_until_stopped(*loop); });
    pthread_setname_np(threads_.back().native_handle(), "io");
  }
}

void IoThreads::stop() {
  for (auto& loop : loops_) loop->stop();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace sandgate::http
