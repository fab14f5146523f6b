#pragma once
#include <future>
#include <utility>

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
  TempDirectory(TempDirectory&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TempDirectory& operator=(TempDirectory&&) = delete;
  // One that another process left.
  static TempDirectory left_at(std::string path) { return TempDirectory(Left{std::move(path)}); }
  // Nobody deletes it any more.
  void leave() && { path_.clear(); }
  const std::string& path() const { return path_; }

 private:
  struct Left {
    std::string path;
  };
  explicit TempDirectory(Left left) : path_(std::move(left.path)) {}

  std::string path_;
};

}  // namespace sandgate::test
