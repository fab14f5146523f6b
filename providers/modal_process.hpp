#pragma once
#include <memory>
#include <optional>
#include <string>

#include "providers/merged_events.hpp"
#include "providers/modal_routers.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

class ModalProvider;

// One output of a program, from its beginning. The vendor keeps it, so a connection that breaks or
// falls silent is replaced, and reading goes on where it was.
class ModalOutput {
 public:
  using Event = std::string;
  ModalOutput(std::shared_ptr<ModalProvider> owner, std::string sandbox, std::string exec,
              Channel channel);
  // Never empty but at the end.
  Task<std::optional<std::string>> next();

 private:
  Task<std::optional<std::string>> message();

  const std::shared_ptr<ModalProvider> owner_;
  const std::string sandbox_, exec_;
  const Channel channel_;
  std::unique_ptr<grpc::MessageStream> stream_;
  uint64_t offset_ = 0;
  int failures_ = 0;  // in a row
};

// A program in a sandbox, under the vendor's id made from ours.
class ModalProcess : public ShellProcess {
 public:
  ModalProcess(std::shared_ptr<ModalProvider> owner, std::string sandbox, Command command);

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  const std::string& exec_id() const { return exec_; }

 private:
  const std::shared_ptr<ModalProvider> modal_;  // the owner
  const std::string exec_;
  std::unique_ptr<MergedStreams<ModalOutput>> outputs_;
};

}  // namespace sandgate
