#include "providers/shell/socket_input.hpp"

#include "providers/shell/shell_script.hpp"

namespace sandgate {
namespace {

constexpr char kInputChannel = 0;
constexpr size_t kSocketPiece = 48 << 10;
constexpr const char* kEndOfTyping = "\x04";

}  // namespace

SocketInput::SocketInput(std::shared_ptr<SharedSocket> socket, Form form)
    : socket_(std::move(socket)), form_(form) {}

Task<void> SocketInput::send(char channel, std::string bytes) {
  bytes.insert(bytes.begin(), channel);
  WebSocket::Message message{.bytes = std::move(bytes)};
  co_await socket_->write(std::move(message));
}

Task<void> SocketInput::give_script(std::string script) {
  return send(kInputChannel, shell::script_line(script));
}

Task<void> SocketInput::write_stdin(std::string bytes) {
  for (size_t at = 0; at < bytes.size(); at += kSocketPiece) {
    std::string piece = bytes.substr(at, kSocketPiece);
    if (form_ == Form::lines) piece = shell::input_line(piece);
    co_await send(kInputChannel, std::move(piece));
  }
}

Task<void> SocketInput::close_stdin() {
  if (form_ == Form::bytes) return close_bytes();
  return send(kInputChannel, form_ == Form::lines ? shell::kInputEnd : kEndOfTyping);
}

Task<void> SocketInput::close_bytes() {
  throw Error(ErrorCode::unsupported, "this input has no end");
  co_return;
}

}  // namespace sandgate
