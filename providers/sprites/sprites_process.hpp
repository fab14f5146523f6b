#pragma once
#include <memory>
#include <string>

#include "providers/shell/shell_process.hpp"
#include "providers/sprites/sprites.hpp"
#include "providers/sprites/sprites_input.hpp"
#include "providers/transport/shared_socket.hpp"

namespace sandgate {

// A command in a sprite. One WebSocket carries its stdin, output and status. The vendor keeps the
// command running for a while after the WebSocket closes.
class SpritesProcess : public ShellProcess {
 public:
  SpritesProcess(std::shared_ptr<SpritesProvider> owner, std::string sandbox, Command command);

  // Starts the command; call once, before all else. Returns when it has started.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  const std::shared_ptr<SpritesProvider> sprites_;  // the same object as owner_
  const std::string name_;
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<SpritesInput> input_;
};

}  // namespace sandgate
