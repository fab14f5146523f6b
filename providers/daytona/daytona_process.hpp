#pragma once
#include <memory>
#include <string>

#include "providers/daytona/daytona.hpp"
#include "providers/shell/shell_process.hpp"

namespace sandgate {

// A process in a Daytona sandbox: the only command of its own session, which is removed at the end.
class DaytonaProcess : public ShellProcess {
 public:
  DaytonaProcess(std::shared_ptr<DaytonaProvider> owner, std::string sandbox, Command command);
  ~DaytonaProcess() override;

  // Starts the process; call once, before all else. Returns when it has started.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  std::string command_path() const;
  Task<std::optional<int>> status();

  const std::shared_ptr<DaytonaProvider> daytona_;  // the same object as owner_
  const std::string session_;
  bool has_session_ = false;
  std::string command_id_;
  std::unique_ptr<WebSocket> log_;
  daytona::LogSplitter splitter_;
  bool log_ended_ = false;
};

}  // namespace sandgate
