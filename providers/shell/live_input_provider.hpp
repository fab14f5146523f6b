#pragma once
#include "providers/shell/live_inputs.hpp"
#include "providers/shell/shell_provider.hpp"

namespace sandgate {

// Base class for vendors that accept a process's input only over the connection of its output.
// stdin and resize by process id use the connections that this gateway holds.
class LiveInputProvider : public ShellProvider {
 public:
  Task<void> write_stdin(std::string id, std::string process, std::string bytes) override;
  Task<void> close_stdin(std::string id, std::string process) override;
  Task<void> resize(std::string id, std::string process, PtySize size) override;

  LiveInputs& inputs() { return *inputs_; }
  // Before use: those of the processes that earlier objects of the same deployment started.
  void share_inputs(std::shared_ptr<LiveInputs> inputs) { inputs_ = std::move(inputs); }

 protected:
  explicit LiveInputProvider(asio::any_io_executor executor) : ShellProvider(std::move(executor)) {}

  // Called if this gateway holds no connection to the process. Throws Error(not_found) unless
  // overridden for a vendor with another way to reach the input.
  virtual Task<std::shared_ptr<LiveInput>> input_elsewhere(std::string id, std::string process);

 private:
  Task<std::shared_ptr<LiveInput>> input_of(std::string id, std::string process);

  std::shared_ptr<LiveInputs> inputs_ = std::make_shared<LiveInputs>();
};

}  // namespace sandgate
