#pragma once
#include <memory>
#include <string>

#include "providers/northflank/northflank.hpp"
#include "providers/shell/live_inputs.hpp"
#include "providers/shell/shell_process.hpp"

namespace sandgate {

// The stdin of a command, over the command's connection.
class NorthflankInput : public LiveInput {
 public:
  explicit NorthflankInput(std::shared_ptr<SharedSocket> socket) : socket_(std::move(socket)) {}
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  Task<void> resize(PtySize size) override;

 private:
  Task<void> send(std::string message);

  const std::shared_ptr<SharedSocket> socket_;
};

// A command in a container, on its own WebSocket. It is not documented whether the vendor ends a
// command with its connection, so a shell line kills it.
class NorthflankProcess : public ShellProcess {
 public:
  NorthflankProcess(std::shared_ptr<NorthflankProvider> owner, std::string sandbox,
                    Command command);

  // Starts the command; call once, before all else. Returns when it runs.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  const std::shared_ptr<NorthflankProvider> northflank_;  // the same object as owner_
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<NorthflankInput> input_;
};

}  // namespace sandgate
