#include "providers/vercel/vercel_terminal.hpp"

namespace sandgate {

VercelTerminal::VercelTerminal(std::shared_ptr<VercelProvider> owner, std::string sandbox,
                               Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), vercel_(std::move(owner)) {}

VercelTerminal::~VercelTerminal() {
  if (!has_exited()) vercel_->end_root(sandbox_, command_);
}

Task<void> VercelTerminal::start() {
  RestCall call{.method = "POST", .path = "/interactive", .json = Json::object()};
  const Json answer = co_await vercel_->call(sandbox_, std::move(call));
  const std::string url = text_of(answer, "url");
  if (!vercel_->is_trusted_url(url)) throw unexpected_answer("vercel");
  const vercel::Session session = co_await vercel_->session_of(sandbox_);
  WebSocketCall opening{.url = url + (url.find('?') == std::string::npos ? "?" : "&") +
                               "token=" + percent_encode(text_of(answer, "token")),
                        .allow_private = vercel_->allow_private(),
                        .read_error = &vercel::read_error};
  socket_ = co_await open_web_socket("vercel", std::move(opening));
  starts();
  WebSocket::Message first{.text = true,
                           .bytes = vercel::to_terminal(command_, session.cwd).dump()};
  co_await socket_->write(std::move(first));
}

Task<std::optional<ProcessEvent>> VercelTerminal::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    auto message = co_await socket_->read();
    if (!message) throw disconnected_without_exit();
    if (!message->text) {
      if (message->bytes.empty()) continue;
      co_return output(Channel::stdout_, std::move(message->bytes));
    }
    if (const auto status = vercel::to_terminal_end(message->bytes)) co_return exit(*status);
  }
}

Task<void> VercelTerminal::write_stdin(std::string bytes) {
  WebSocket::Message message{.text = false, .bytes = std::move(bytes)};
  co_await socket_->write(std::move(message));
}

}  // namespace sandgate
