#pragma once
#include <memory>
#include <string>

#include "providers/connect_stream.hpp"
#include "providers/e2b.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// A process in an E2B sandbox: its output as the stream of one call, its stdin by calls of its own.
// envd lets it live on when the stream goes.
class E2bProcess : public ShellProcess {
 public:
  E2bProcess(std::shared_ptr<E2bProvider> owner, std::string sandbox, Command command);

  // Returns when it runs. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  E2bProvider& e2b_;  // the owner
  std::unique_ptr<connect::MessageReader> messages_;
  int64_t pid_ = 0;
};

}  // namespace sandgate
