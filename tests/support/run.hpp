#pragma once
#include <future>

#include "gateway/core/async.hpp"

namespace sandgate::test {

// Runs a coroutine to its end on an event loop of its own and returns (or throws) its result.
template <class T>
T run(Task<T> task) {
  asio::io_context loop;
  auto result = asio::co_spawn(loop, std::move(task), asio::use_future);
  loop.run();
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
