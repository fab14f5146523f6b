#pragma once
#include "providers/live_inputs.hpp"
#include "providers/shell_provider.hpp"

namespace sandgate {

// The base of adapters whose vendor takes a process's input over the connection of its output only:
// the verbs that name a process reach the inputs that this gateway holds.
class LiveInputProvider : public ShellProvider {
 public:
  Task<void> write_stdin(std::string id, std::string process, std::string bytes) override;
  Task<void> close_stdin(std::string id, std::string process) override;
  Task<void> resize(std::string id, std::string process, PtySize size) override;

  LiveInputs& inputs() { return inputs_; }

 protected:
  explicit LiveInputProvider(asio::any_io_executor executor) : ShellProvider(std::move(executor)) {}

  // Of a process whose connection this gateway does not hold: Error(not_found), unless the vendor
  // has another way.
  virtual Task<std::shared_ptr<LiveInput>> input_elsewhere(std::string id, std::string process);

 private:
  Task<std::shared_ptr<LiveInput>> input_of(std::string id, std::string process);

  LiveInputs inputs_;
};

}  // namespace sandgate
