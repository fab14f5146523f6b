#include "providers/northflank/northflank_process.hpp"

namespace sandgate {
namespace {

// A multiple of three, so that the base64 of consecutive pieces can be joined.
constexpr size_t kNorthflankInput = 3 * (32 << 10);

}  // namespace

Task<void> NorthflankInput::send(std::string message) {
  WebSocket::Message text{.text = true, .bytes = std::move(message)};
  co_await socket_->write(std::move(text));
}

Task<void> NorthflankInput::write_stdin(std::string bytes) {
  for (size_t at = 0; at < bytes.size(); at += kNorthflankInput) {
    std::string message =
        northflank::to_input(std::string_view(bytes).substr(at, kNorthflankInput));
    co_await send(std::move(message));
  }
}

Task<void> NorthflankInput::close_stdin() { return send(northflank::to_end_of_input()); }

Task<void> NorthflankInput::resize(PtySize size) { return send(northflank::to_resize(size)); }

NorthflankProcess::NorthflankProcess(std::shared_ptr<NorthflankProvider> owner, std::string sandbox,
                                     Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), northflank_(std::move(owner)) {}

Task<void> NorthflankProcess::start() {
  starts();
  socket_ = co_await northflank_->start(sandbox_, command_);
  input_ = std::make_shared<NorthflankInput>(socket_);
  northflank_->inputs().add(sandbox_, command_.process_id, input_);
}

Task<std::optional<ProcessEvent>> NorthflankProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const auto message = co_await socket_->read();
    if (!message) throw disconnected_without_exit();
    auto frame = northflank::to_frame(message->bytes);
    if (frame.kind == northflank::Frame::output && !frame.bytes.empty())
      co_return output(frame.channel, std::move(frame.bytes));
    if (frame.kind == northflank::Frame::completed) co_return exit(frame.status);
    if (frame.kind == northflank::Frame::refused)
      throw Error(ErrorCode::unavailable, "northflank lost the process");
  }
}

Task<void> NorthflankProcess::write_stdin(std::string bytes) {
  return input_->write_stdin(std::move(bytes));
}

Task<void> NorthflankProcess::close_stdin() { return input_->close_stdin(); }

}  // namespace sandgate
