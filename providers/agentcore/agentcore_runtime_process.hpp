#pragma once
#include <deque>
#include <memory>
#include <string>

#include "providers/agentcore/agentcore_runtime.hpp"
#include "providers/shell/end_mark.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/transport/event_stream.hpp"

namespace sandgate {

// A command in a session of an agent runtime: one request, whose answer is the output.
class AgentcoreRuntimeProcess : public ShellProcess {
 public:
  AgentcoreRuntimeProcess(std::shared_ptr<AgentcoreRuntimeProvider> owner, std::string sandbox,
                          Command command);

  // Starts the command; call once, before all else. Throws Error(not_found) if there is no sandbox.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  // The decoder of one output.
  struct Output {
    explicit Output(const std::string& word) : mark(word) {}
    LineSplitter lines;
    EndMark mark;
  };
  Task<void> pull();
  void take(Output& from, Channel channel);

  const std::shared_ptr<AgentcoreRuntimeProvider> runtime_;  // the same object as owner_
  const std::string word_;
  Output out_, err_;
  std::unique_ptr<aws::EventMessageReader> events_;
  std::deque<ProcessEvent> ready_;
  bool ended_ = false;  // the answer is complete
};

}  // namespace sandgate
