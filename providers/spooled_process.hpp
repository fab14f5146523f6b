#pragma once
#include <deque>
#include <memory>
#include <string>

#include "providers/shell_process.hpp"
#include "providers/shell_spool.hpp"

namespace sandgate {

// A command with a vendor that answers only when a command has ended: it runs on by itself, and
// its output is fetched by lines of the shell. Output that is not fetched waits on the sandbox's
// disk.
class SpooledProcess : public ShellProcess {
 public:
  // A command without a process id gets one.
  SpooledProcess(std::shared_ptr<ShellProvider> owner, std::string sandbox, Command command);

  // What the vendor is to run without waiting for it, once; then launched() before anything else.
  std::string line() const { return shell::spool_line(command_); }
  void launched() { starts(); }

  Task<std::optional<ProcessEvent>> next() override;

 private:
  Task<void> fetch();

  uint64_t out_ = 0, err_ = 0;  // fetched
  std::deque<ProcessEvent> events_;
  bool seen_ = false;
  int missed_ = 0;
};

}  // namespace sandgate
