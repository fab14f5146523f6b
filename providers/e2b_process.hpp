#pragma once
#include <memory>
#include <string>

#include "providers/connect_stream.hpp"
#include "providers/e2b.hpp"

namespace sandgate {

// A process in an E2B sandbox: its output as the stream of one call, its stdin by calls of its own.
// envd lets it live on when the stream goes, so dropping it sends the signal that Command asks for.
class E2bProcess : public ProcessStream {
 public:
  E2bProcess(std::shared_ptr<E2bProvider> owner, std::string sandbox, Command command);
  ~E2bProcess() override;

  // Returns when it runs. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  const std::shared_ptr<E2bProvider> owner_;
  const std::string sandbox_;
  const Command command_;
  std::unique_ptr<connect::MessageReader> messages_;
  std::chrono::steady_clock::time_point started_;
  int64_t pid_ = 0;
  uint64_t offset_ = 0;
  bool exited_ = false;
};

}  // namespace sandgate
