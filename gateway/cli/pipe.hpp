#pragma once
#include <exception>
#include <functional>
#include <string_view>
#include <thread>

namespace sandgate::cli {

// A pipe whose other end is served by a thread: how libarchive, which wants a file, and a transfer,
// which wants callbacks, meet without keeping the bytes. Bounded by the kernel's pipe buffer.
class Pipe {
 public:
  enum class Direction { from_thread, to_thread };

  // `work` gets the thread's end, which is closed when it returns or throws.
  Pipe(Direction direction, std::function<void(int fd)> work);
  Pipe(const Pipe&) = delete;
  ~Pipe();

  // For from_thread: 0 at the end. Rethrows what the thread threw.
  size_t read(char* into, size_t size);
  // For to_thread. Throws when the thread stopped reading.
  void write(std::string_view bytes);
  // Closes this end, waits for the thread and rethrows what it threw.
  void finish();

 private:
  void close_end();

  int fd_ = -1;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace sandgate::cli
