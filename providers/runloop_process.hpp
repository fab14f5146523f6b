#pragma once
#include <memory>
#include <string>

#include "providers/merged_events.hpp"
#include "providers/runloop.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// An execution in a devbox: its two outputs are streams of their own, its status is asked for when
// both have ended.
class RunloopProcess : public ShellProcess {
 public:
  RunloopProcess(std::shared_ptr<RunloopProvider> owner, std::string sandbox, Command command);

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  std::string execution_path() const;
  Task<std::unique_ptr<EventReader>> open(std::string stream);
  Task<int> status();

  RunloopProvider& runloop_;  // the owner
  std::string execution_;
  std::unique_ptr<MergedEvents> events_;
};

}  // namespace sandgate
