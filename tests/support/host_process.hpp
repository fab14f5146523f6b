#pragma once
#include <deque>
#include <memory>
#include <string>

#include "providers/sandbox.hpp"

namespace sandgate::test {

// A child process group whose output is kept in a bounded log for any number of readers. A
// foreground process blocks while its reader is more than 256 KiB behind.
class HostProcess : public std::enable_shared_from_this<HostProcess> {
 public:
  HostProcess(asio::any_io_executor executor, Command command, std::string directory);
  ~HostProcess();  // kills the group

  void start();  // starts the coroutines that watch it
  Task<std::optional<ProcessEvent>> next(uint64_t& offset, bool& exited);
  Task<void> write(std::string bytes);
  void close_stdin();
  void signal(int number);
  void detach();  // its reader left
  ProcessInfo info() const;

 private:
  Task<void> pump(int fd, Channel channel);
  Task<void> watch();
  Task<void> wait_for_change();
  void changed() { change_.cancel(); }
  bool has_room() const;

  asio::any_io_executor executor_;
  Command command_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  asio::posix::stream_descriptor stdin_;
  int out_fd_ = -1, err_fd_ = -1;
  asio::steady_timer change_;
  std::deque<OutputChunk> log_;
  uint64_t total_ = 0, read_ = 0;
  size_t kept_ = 0;
  int open_outputs_ = 2;
  bool foreground_, timed_out_ = false;
  std::optional<ProcessExit> exit_;
  Time started_, ended_;
};

}  // namespace sandgate::test
