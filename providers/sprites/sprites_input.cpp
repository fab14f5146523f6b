#include "providers/sprites/sprites_input.hpp"

#include "providers/sprites/sprites_wire.hpp"

namespace sandgate {
namespace {

constexpr size_t kSpritesPiece = 64 << 10;  // bytes per message

}  // namespace

Task<void> SpritesInput::write_stdin(std::string bytes) {
  std::vector<WebSocket::Message> messages;
  for (size_t at = 0; at < bytes.size(); at += kSpritesPiece)
    messages.push_back(sprites::to_input(bytes.substr(at, kSpritesPiece), pty_));
  co_await send_(std::move(messages));
}

Task<void> SpritesInput::close_stdin() {
  if (pty_) co_return;
  std::vector<WebSocket::Message> messages{sprites::to_end_of_input()};
  co_await send_(std::move(messages));
}

Task<void> SpritesInput::resize(PtySize size) {
  std::vector<WebSocket::Message> messages{sprites::to_resize(size)};
  co_await send_(std::move(messages));
}

}  // namespace sandgate
