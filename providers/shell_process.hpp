#pragma once
#include <memory>
#include <string>

#include "providers/shell_provider.hpp"

namespace sandgate {

// The base of a command that runs under our supervisor (shell_command.hpp) with a vendor: counts
// its output, knows its end, and when it is dropped running ends it by a line of the shell, unless
// Command says to keep it. Without a verb for stdin there is none.
class ShellProcess : public ProcessStream {
 public:
  ~ShellProcess() override;

  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 protected:
  ShellProcess(std::shared_ptr<ShellProvider> owner, std::string sandbox, Command command);

  // From now on it may run, and its time counts.
  void starts();
  bool has_exited() const { return exited_; }
  ProcessEvent output(Channel channel, std::string bytes);
  // The last event, from the shell's status.
  ProcessEvent exit(int status);

  const std::shared_ptr<ShellProvider> owner_;
  const std::string sandbox_;
  const Command command_;

 private:
  std::chrono::steady_clock::time_point started_;
  uint64_t offset_ = 0;
  bool runs_ = false, exited_ = false;
};

}  // namespace sandgate
