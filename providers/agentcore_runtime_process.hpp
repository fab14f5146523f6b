#pragma once
#include <deque>
#include <memory>
#include <string>

#include "providers/agentcore_runtime.hpp"
#include "providers/end_mark.hpp"
#include "providers/event_stream.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// A command in a session of an agent runtime: one request, whose answer is its output.
class AgentcoreRuntimeProcess : public ShellProcess {
 public:
  AgentcoreRuntimeProcess(std::shared_ptr<AgentcoreRuntimeProvider> owner, std::string sandbox,
                          Command command);

  // Returns when it runs; before anything else. Error(not_found) when the sandbox is not there.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;

 private:
  // One of its outputs, on the way.
  struct Output {
    explicit Output(const std::string& word) : mark(word) {}
    LineSplitter lines;
    EndMark mark;
  };
  Task<void> pull();
  void take(Output& from, Channel channel);

  const std::shared_ptr<AgentcoreRuntimeProvider> runtime_;  // the owner
  const std::string word_;
  Output out_, err_;
  std::unique_ptr<aws::EventMessageReader> events_;
  std::deque<ProcessEvent> ready_;
  bool ended_ = false;  // nothing more comes
};

}  // namespace sandgate
