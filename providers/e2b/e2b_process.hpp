#pragma once
#include <memory>
#include <string>

#include "providers/e2b/e2b.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/transport/connect_stream.hpp"

namespace sandgate {

// A process in an E2B sandbox. Its output is one streaming call; each write of stdin is a call.
// envd keeps the process running when the stream ends.
class E2bProcess : public ShellProcess {
 public:
  E2bProcess(std::shared_ptr<E2bProvider> owner, std::string sandbox, Command command);

  // Starts the process; call once, before all else. Returns when it runs.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  const std::shared_ptr<E2bProvider> e2b_;  // the same object as owner_
  std::unique_ptr<connect::MessageReader> messages_;
  int64_t pid_ = 0;
};

}  // namespace sandgate
