#pragma once
#include <memory>
#include <string>

#include "providers/daytona.hpp"

namespace sandgate {

// A process in a Daytona sandbox: the one command of a session of its own. The session is removed
// at its end, and with it what still runs unless Command says to keep that.
class DaytonaProcess : public ProcessStream {
 public:
  DaytonaProcess(std::shared_ptr<DaytonaProvider> owner, std::string sandbox, Command command);
  ~DaytonaProcess() override;

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  std::string command_path() const;
  Task<int> status();

  const std::shared_ptr<DaytonaProvider> owner_;
  const std::string sandbox_, session_;
  const Command command_;
  std::string command_id_;
  std::unique_ptr<WebSocket> log_;
  daytona::LogSplitter splitter_;
  std::chrono::steady_clock::time_point started_;
  uint64_t offset_ = 0;
  bool log_ended_ = false, exited_ = false;
};

}  // namespace sandgate
