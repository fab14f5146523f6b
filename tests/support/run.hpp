#pragma once
#include <future>

#include "gateway/core/async.hpp"

namespace sandgate::test {

// An event loop for as long as this lives. Loops are used again and never destroyed: a database
// thread may still be inside post() when the coroutine it woke has already ended.
class BorrowedLoop {
 public:
  BorrowedLoop();
  ~BorrowedLoop();
  BorrowedLoop(const BorrowedLoop&) = delete;
  BorrowedLoop& operator=(const BorrowedLoop&) = delete;
  asio::io_context& operator*() { return *loop_; }

 private:
  asio::io_context* loop_;
};

// Runs a coroutine to its end on an event loop of its own and returns (or throws) its result.
template <class T>
T run(Task<T> task) {
  BorrowedLoop loop;
  auto result = asio::co_spawn(*loop, std::move(task), asio::use_future);
  (*loop).run();
  return result.get();
}

// A directory under TMPDIR that goes with the object.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sandgate::test
