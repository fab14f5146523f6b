#pragma once
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "gateway/cli/client.hpp"
#include "gateway/core/fd.hpp"

namespace sandgate::cli {

// Sends standard input to a program in a sandbox as it comes, in a thread, however much it is. Its
// end is the end of the program's input.
class StdinForwarder {
 public:
  // `client` must outlive this object.
  explicit StdinForwarder(const Client& client);
  StdinForwarder(const StdinForwarder&) = delete;
  // Sends nothing more.
  ~StdinForwarder();

  // `path`: the address of the program's input.
  void start(std::string path);
  // Instead of start(): the program has no input and reads its end at once.
  void close(std::string path);
  // Throws the Error that kept input from the program. That it reads no more is none.
  void check() const;

 private:
  void run(const std::string& path);
  void send(const std::string& path, const std::string& piece) const;
  std::optional<std::string> next_piece();
  // Whether there is input before the time is over; -1: no limit. Not once stopped.
  bool wait(int milliseconds) const;
  void check_goes_on() const;

  const Client& client_;
  const Fd wake_;
  bool ended_ = false;
  std::atomic<bool> stopping_{false}, failed_{false};
  std::exception_ptr failure_;  // to be read once failed_ is set
  std::thread thread_;
};

}  // namespace sandgate::cli
