#pragma once
#include <memory>
#include <string>

#include "providers/daytona.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// A process in a Daytona sandbox: the one command of a session of its own. The session is removed
// at its end.
class DaytonaProcess : public ShellProcess {
 public:
  DaytonaProcess(std::shared_ptr<DaytonaProvider> owner, std::string sandbox, Command command);
  ~DaytonaProcess() override;

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  std::string command_path() const;
  Task<int> status();

  const std::shared_ptr<DaytonaProvider> daytona_;  // the owner
  const std::string session_;
  std::string command_id_;
  std::unique_ptr<WebSocket> log_;
  daytona::LogSplitter splitter_;
  bool log_ended_ = false;
};

}  // namespace sandgate
