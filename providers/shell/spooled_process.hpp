#pragma once
#include <deque>
#include <memory>
#include <string>

#include "providers/retries.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/shell/shell_spool.hpp"

namespace sandgate {

// A process whose output is fetched from files in the sandbox (shell_spool.hpp), for vendors that
// answer only when a command has ended. Output that is not yet fetched uses the sandbox's disk. A
// fetch that fails is repeated: a command may run for hours and takes one every few seconds.
class SpooledProcess : public ShellProcess {
 public:
  // Gives the command a process id if it has none.
  SpooledProcess(std::shared_ptr<ShellProvider> owner, std::string sandbox, Command command);

  // The line that the vendor must start once, without waiting for it. Call launched() next.
  std::string line() const { return shell::spool_line(command_); }
  void launched() { starts(); }

  Task<std::optional<ProcessEvent>> next() override;

 private:
  Task<void> fetch();
  Task<shell::Fetched> fetch_once();
  // Waits before a repeat; throws the error if none is of use.
  Task<void> wait_after(Error error);

  uint64_t out_ = 0, err_ = 0;  // offsets of the output fetched so far
  std::deque<ProcessEvent> events_;
  bool seen_ = false;
  int missed_ = 0;
  Retries retries_;
};

}  // namespace sandgate
