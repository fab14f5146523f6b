#include "providers/sprites/sprites_process.hpp"

#include "gateway/core/ids.hpp"

namespace sandgate {
namespace {

Task<void> send_all(std::shared_ptr<SharedSocket> socket,
                    std::vector<WebSocket::Message> messages) {
  for (auto& message : messages) co_await socket->write(std::move(message));
}

}  // namespace

SpritesProcess::SpritesProcess(std::shared_ptr<SpritesProvider> owner, std::string sandbox,
                               Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)),
      sprites_(std::move(owner)),
      name_(command_.process_id.empty() ? ProcessId::make().value : command_.process_id) {}

Task<void> SpritesProcess::start() {
  if (command_.pty) {
    const std::string line = sprites::to_script_line(command_, name_);
    const ShellProvider::LineResult ran = co_await sprites_->run(sandbox_, line);
    if (ran.status != 0) throw Error(ErrorCode::unavailable, "sprites did not start the process");
  }
  const std::string path = "/exec" + sprites::to_exec_query(command_, name_);
  starts();
  auto socket = co_await sprites_->open(sandbox_, path);
  const auto executor = co_await asio::this_coro::executor;
  socket_ = std::make_shared<SharedSocket>(std::move(socket), executor);
  auto send = [shared = socket_](std::vector<WebSocket::Message> messages) {
    return send_all(shared, std::move(messages));
  };
  input_ = std::make_shared<SpritesInput>(command_.pty.has_value(), std::move(send));
  if (!command_.pty) {
    std::string line = sprites::to_first_line(command_);
    co_await input_->write_stdin(std::move(line));
  }
  sprites_->inputs().add(sandbox_, command_.process_id, input_);
}

Task<std::optional<ProcessEvent>> SpritesProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const auto message = co_await socket_->read();
    if (!message) break;
    auto event = sprites::to_event(*message, command_.pty.has_value());
    if (event.kind == sprites::Event::output)
      co_return output(event.channel, std::move(event.bytes));
    if (event.kind == sprites::Event::ended) co_return exit(event.status);
  }
  if (!command_.pty) throw disconnected_without_exit();
  const int status = co_await sprites_->stored_status(sandbox_, name_);
  co_return exit(status);
}

Task<void> SpritesProcess::write_stdin(std::string bytes) {
  return input_->write_stdin(std::move(bytes));
}

Task<void> SpritesProcess::close_stdin() { return input_->close_stdin(); }

}  // namespace sandgate
