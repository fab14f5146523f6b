#pragma once
#include <functional>
#include <vector>

#include "providers/shell/live_inputs.hpp"
#include "providers/transport/web_socket.hpp"

namespace sandgate {

// The stdin of a command in a sprite, sent over the connection of `send`.
class SpritesInput : public LiveInput {
 public:
  using Send = std::function<Task<void>(std::vector<WebSocket::Message>)>;

  SpritesInput(bool pty, Send send) : pty_(pty), send_(std::move(send)) {}

  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;  // does nothing for a terminal
  Task<void> resize(PtySize size) override;

 private:
  const bool pty_;
  const Send send_;
};

}  // namespace sandgate
