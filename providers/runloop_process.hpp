#pragma once
#include <memory>
#include <string>

#include "providers/merged_events.hpp"
#include "providers/runloop.hpp"

namespace sandgate {

// An execution in a devbox: its two outputs are streams of their own, its status is asked for when
// both have ended. Dropping it ends the command unless Command says to keep it.
class RunloopProcess : public ProcessStream {
 public:
  RunloopProcess(std::shared_ptr<RunloopProvider> owner, std::string sandbox, Command command);
  ~RunloopProcess() override;

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  std::string execution_path() const;
  Task<std::unique_ptr<EventReader>> open(std::string stream);
  Task<int> status();

  const std::shared_ptr<RunloopProvider> owner_;
  const std::string sandbox_;
  const Command command_;
  std::string execution_;
  std::unique_ptr<MergedEvents> events_;
  std::chrono::steady_clock::time_point started_;
  uint64_t offset_ = 0;
  bool exited_ = false;
};

}  // namespace sandgate
