#pragma once
#include <memory>
#include <string>

#include "providers/event_stream.hpp"
#include "providers/growing_pause.hpp"
#include "providers/merged_events.hpp"
#include "providers/runloop.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// One output of an execution, read anew from where it was cut off for as long as the program runs.
class RunloopOutput {
 public:
  using Event = std::string;
  // `execution`: the path of its resource; `name`: "stdout" or "stderr".
  RunloopOutput(std::shared_ptr<RunloopProvider> owner, std::string execution, std::string name);

  // Opens the stream. Before anything else.
  Task<void> open();
  // Empty at the end.
  Task<std::optional<std::string>> next();

 private:
  const std::shared_ptr<RunloopProvider> owner_;
  const std::string execution_, name_;
  size_t received_ = 0;  // bytes
  bool whole_ = false;  // opened when the program had ended
  std::unique_ptr<EventReader> events_;
};

// An execution in a devbox: its two outputs are streams of their own, its status is asked for when
// both have ended.
class RunloopProcess : public ShellProcess {
 public:
  RunloopProcess(std::shared_ptr<RunloopProvider> owner, std::string sandbox, Command command);

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  Task<int> status();

  const std::shared_ptr<RunloopProvider> runloop_;  // the owner
  std::string execution_;  // the path of its resource
  std::unique_ptr<MergedStreams<RunloopOutput>> outputs_;
};

}  // namespace sandgate
