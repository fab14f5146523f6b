#pragma once
#include <memory>
#include <string>

#include "providers/retries.hpp"
#include "providers/runloop/runloop.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/transport/event_stream.hpp"
#include "providers/transport/merged_streams.hpp"

namespace sandgate {

// One output of an execution. A stream that ends or breaks before the output does is reopened at
// the same offset.
class RunloopOutput {
 public:
  using Event = std::string;
  // `execution` is the path of its resource; `name` is "stdout" or "stderr".
  RunloopOutput(std::shared_ptr<RunloopProvider> owner, std::string execution, std::string name);

  // Opens the stream, which next() does otherwise.
  Task<void> open();
  // Returns the next bytes; empty at the end.
  Task<std::optional<std::string>> next();

 private:
  const std::shared_ptr<RunloopProvider> owner_;
  const std::string execution_, name_;
  // Returns the next bytes; empty if the stream has ended. Then `ended_` is whether the output has.
  Task<std::optional<std::string>> piece();

  size_t received_ = 0;  // bytes
  bool is_over_ = false;  // the program has ended: a stream opened from now on has all that follows
  bool ended_ = false;
  Retries retries_;
  std::unique_ptr<EventReader> events_;  // null: no stream is open
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
  Task<std::optional<int>> status();

  const std::shared_ptr<RunloopProvider> runloop_;  // the same object as owner_
  std::string execution_;  // the path of its resource
  std::unique_ptr<MergedStreams<RunloopOutput>> outputs_;
};

}  // namespace sandgate
