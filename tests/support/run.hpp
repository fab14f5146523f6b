#pragma once
#include <future>

#include "gateway/core/async.hpp"

namespace sandgate::test {

// Borrows an event loop for this object's life. Loops are reused and never destroyed: a database
// thread may still be inside post() when the coroutine it resumed has ended.
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

// Runs a coroutine to completion on its own event loop and returns its result or throws.
template <class T>
T run(Task<T> task) {
  BorrowedLoop loop;
  auto result = asio::co_spawn(*loop, std::move(task), asio::use_future);
  (*loop).run();
  return result.get();
}

// A temporary directory, by default under TMPDIR, deleted with this object.
class TempDirectory {
 public:
  explicit TempDirectory(const std::string& parent = "");
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sandgate::test
