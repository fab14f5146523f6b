#pragma once
#include <memory>
#include <string>

#include "providers/growing_pause.hpp"
#include "providers/runloop/runloop.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/transport/event_stream.hpp"
#include "providers/transport/merged_events.hpp"

namespace sandgate {

// One output of an execution. A stream that breaks off while the program runs is reopened at the
// same offset.
class RunloopOutput {
 public:
  using Event = std::string;
  // `execution` is the path of its resource; `name` is "stdout" or "stderr".
  RunloopOutput(std::shared_ptr<RunloopProvider> owner, std::string execution, std::string name);

  // Opens the stream; call before next().
  Task<void> open();
  // Returns the next bytes; empty at the end.
  Task<std::optional<std::string>> next();

 private:
  const std::shared_ptr<RunloopProvider> owner_;
  const std::string execution_, name_;
  size_t received_ = 0;  // bytes
  bool whole_ = false;  // the stream was opened after the program had ended
  std::unique_ptr<EventReader> events_;
};

// An execution in a devbox. Each output is a stream of its own; the status is polled once both have
// ended.
class RunloopProcess : public ShellProcess {
 public:
  RunloopProcess(std::shared_ptr<RunloopProvider> owner, std::string sandbox, Command command);

  // Starts the execution; call once, before all else. Returns when it has started.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  Task<int> status();

  const std::shared_ptr<RunloopProvider> runloop_;  // the same object as owner_
  std::string execution_;  // the path of its resource
  std::unique_ptr<MergedStreams<RunloopOutput>> outputs_;
};

}  // namespace sandgate
