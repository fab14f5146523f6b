#pragma once
#include <exception>
#include <functional>
#include <string_view>
#include <thread>

#include "gateway/core/fd.hpp"

namespace sandgate::cli {

// A pipe with a thread at its other end. Connects libarchive, which needs a file descriptor, with a
// transfer, which uses callbacks, without storing the data. The kernel's pipe buffer bounds it.
class Pipe {
 public:
  enum class Direction { from_thread, to_thread };

  // `work` receives the thread's end of the pipe, which is closed when it returns or throws.
  Pipe(Direction direction, std::function<void(int fd)> work);
  Pipe(const Pipe&) = delete;
  ~Pipe();

  // For from_thread. Returns 0 at the end; rethrows the thread's exception there.
  size_t read(char* into, size_t size);
  // For to_thread. If the thread stopped reading, rethrows its exception or throws Error(invalid).
  void write(std::string_view bytes);
  // Closes this end, joins the thread and rethrows its exception.
  void finish();

 private:
  Fd end_;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace sandgate::cli
