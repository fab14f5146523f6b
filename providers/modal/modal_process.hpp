#pragma once
#include <memory>
#include <optional>
#include <string>

#include "providers/modal/modal_routers.hpp"
#include "providers/retries.hpp"
#include "providers/shell/shell_process.hpp"
#include "providers/transport/merged_streams.hpp"

namespace sandgate {

class ModalProvider;

// One output of a program, read from its start. The vendor stores the output, so that a broken or
// silent connection is replaced and reading continues at the same offset.
class ModalOutput {
 public:
  using Event = std::string;
  ModalOutput(std::shared_ptr<ModalProvider> owner, std::string sandbox, std::string exec,
              Channel channel);
  // Returns the next bytes, never an empty text; empty optional at the end.
  Task<std::optional<std::string>> next();

 private:
  Task<std::optional<std::string>> message();

  const std::shared_ptr<ModalProvider> owner_;
  const std::string sandbox_, exec_;
  const Channel channel_;
  std::unique_ptr<grpc::MessageStream> stream_;
  uint64_t offset_ = 0;
  Retries retries_;
};

// A program in a sandbox; the vendor's id for it is derived from our process id.
class ModalProcess : public ShellProcess {
 public:
  ModalProcess(std::shared_ptr<ModalProvider> owner, std::string sandbox, Command command);

  // Starts the program; call once, before all else. Returns when it has started.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  const std::string& exec_id() const { return exec_; }

 private:
  const std::shared_ptr<ModalProvider> modal_;  // the same object as owner_
  const std::string exec_;
  std::unique_ptr<MergedStreams<ModalOutput>> outputs_;
};

}  // namespace sandgate
