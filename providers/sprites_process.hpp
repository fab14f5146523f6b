#pragma once
#include <memory>
#include <string>

#include "providers/shared_socket.hpp"
#include "providers/shell_process.hpp"
#include "providers/sprites.hpp"
#include "providers/sprites_input.hpp"

namespace sandgate {

// A command in a sprite: one WebSocket carries its stdin, its output and its status. The vendor
// lets it live on for a while when that goes.
class SpritesProcess : public ShellProcess {
 public:
  SpritesProcess(std::shared_ptr<SpritesProvider> owner, std::string sandbox, Command command);

  // Returns when it was started. Before anything else.
  Task<void> start();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;

 private:
  SpritesProvider& sprites_;  // the owner
  const std::string name_;
  std::shared_ptr<SharedSocket> socket_;
  std::shared_ptr<SpritesInput> input_;
};

}  // namespace sandgate
