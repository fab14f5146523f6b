#include "providers/sprites_process.hpp"

#include "gateway/core/ids.hpp"

namespace sandgate {

SpritesProcess::SpritesProcess(std::shared_ptr<SpritesProvider> owner, std::string sandbox,
                               Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)),
      sprites_(*owner),
      name_(command_.process_id.empty() ? ProcessId::make().value : command_.process_id) {}

Task<void> SpritesProcess::start() {
  if (command_.pty) {
    const std::string line = sprites::to_script_line(command_, name_);
    const ShellProvider::Ran ran = co_await sprites_.run(sandbox_, line);
    if (ran.status != 0) throw Error(ErrorCode::unavailable, "sprites did not start the process");
  }
  const std::string path = "/exec" + sprites::to_exec_query(command_, name_);
  starts();
  socket_ = co_await sprites_.open(sandbox_, path);
  if (command_.pty) co_return;
  std::string line = sprites::to_first_line(command_);
  co_await write_stdin(std::move(line));
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
  if (!command_.pty)
    throw Error(ErrorCode::unavailable, "the connection ended before the process did");
  const int status = co_await sprites_.left_status(sandbox_, name_);
  co_return exit(status);
}

Task<void> SpritesProcess::write_stdin(std::string bytes) {
  for (size_t at = 0; at < bytes.size(); at += kStdinPiece) {
    auto message = sprites::to_input(bytes.substr(at, kStdinPiece), command_.pty.has_value());
    co_await socket_->write(std::move(message));
  }
}

Task<void> SpritesProcess::close_stdin() {
  if (command_.pty) co_return;
  auto message = sprites::to_end_of_input();
  co_await socket_->write(std::move(message));
}

}  // namespace sandgate
