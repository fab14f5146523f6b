#include "providers/northflank_process.hpp"

namespace sandgate {
namespace {

// A multiple of three, so that pieces of one input could be joined before they are decoded.
constexpr size_t kNorthflankInput = 3 * (32 << 10);

}  // namespace

Task<void> northflank::write(std::shared_ptr<SharedSocket> socket, std::string bytes) {
  for (size_t at = 0; at < bytes.size(); at += kNorthflankInput) {
    const std::string_view piece = std::string_view(bytes).substr(at, kNorthflankInput);
    WebSocket::Message message{true, to_input(piece)};
    co_await socket->write(std::move(message));
  }
}

NorthflankProcess::NorthflankProcess(std::shared_ptr<NorthflankProvider> owner, std::string sandbox,
                                     Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), northflank_(*owner) {}

NorthflankProcess::~NorthflankProcess() {
  if (!command_.process_id.empty()) northflank_.live().drop(sandbox_, command_.process_id);
}

Task<void> NorthflankProcess::start() {
  starts();
  socket_ = co_await northflank_.start(sandbox_, command_);
  if (!command_.process_id.empty()) northflank_.live().put(sandbox_, command_.process_id, socket_);
}

Task<std::optional<ProcessEvent>> NorthflankProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const auto message = co_await socket_->read();
    if (!message)
      throw Error(ErrorCode::unavailable, "the connection ended before the process did");
    auto frame = northflank::to_frame(message->bytes);
    if (frame.kind == northflank::Frame::output && !frame.bytes.empty())
      co_return output(frame.channel, std::move(frame.bytes));
    if (frame.kind == northflank::Frame::completed) co_return exit(frame.status);
    if (frame.kind == northflank::Frame::refused)
      throw Error(ErrorCode::unavailable, "northflank lost the process");
  }
}

Task<void> NorthflankProcess::write_stdin(std::string bytes) {
  co_await northflank::write(socket_, std::move(bytes));
}

Task<void> NorthflankProcess::close_stdin() {
  WebSocket::Message message{true, northflank::to_end_of_input()};
  co_await socket_->write(std::move(message));
}

}  // namespace sandgate
