#pragma once
#include <memory>
#include <string>

#include "providers/shell/shell_provider.hpp"

namespace sandgate {

// Base class for a command that runs in a vendor's sandbox under our shell supervisor
// (shell_command.hpp). Counts output and records the exit. A process that still runs when it is
// dropped is killed by a shell line, unless Command::keep_on_disconnect. The base class has no
// stdin.
class ShellProcess : public ProcessStream {
 public:
  ~ShellProcess() override;

  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 protected:
  ShellProcess(std::shared_ptr<ShellProvider> owner, std::string sandbox, Command command);

  // Call when the command may have started; its duration counts from here.
  void starts();
  bool has_exited() const { return exited_; }
  ProcessEvent output(Channel channel, std::string bytes);
  // Returns the last event, made from the shell's exit status.
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
