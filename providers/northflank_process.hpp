#pragma once
#include <memory>
#include <string>

#include "providers/live_inputs.hpp"
#include "providers/northflank.hpp"
#include "providers/shell_process.hpp"

namespace sandgate {

// The input of a command, over its connection.
class NorthflankInput : public LiveInput {
 public:
  explicit NorthflankInput(std::shared_ptr<SharedSocket> socket) : socket_(std::move(socket)) {}
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  Task<void> resize(PtySize size) override;

 private:
  Task<void> tell(std::string message);

  const std::shared_ptr<SharedSocket> socket_;
};

// A command in a container, on a WebSocket of its own. Whether the vendor ends it with the
// connection is not known, so it is ended by a line of the shell.
class NorthflankProcess : public ShellProcess {
 public:
  NorthflankProcess(std::shared_ptr<NorthflankProvider> owner, std::string sandbox,
                    Command command);

  // Returns when it runs. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  NorthflankProvider& northflank_;  // the owner
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<NorthflankInput> input_;
};

}  // namespace sandgate
