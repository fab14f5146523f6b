#include "providers/opensandbox/opensandbox_process.hpp"

#include "gateway/core/ids.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/shell/shell_script.hpp"

namespace sandgate {
namespace {

constexpr char kPipeOut = 1, kPipeErr = 2, kReplayed = 3;
constexpr size_t kReplayHead = 9;

Task<void> drop_session_of_execd(std::shared_ptr<OpenSandboxProvider> owner, std::string sandbox,
                                 std::string session) {
  RestApi inside = co_await owner->execd(sandbox);
  co_await inside.remove("/pty/" + percent_encode(session));
}

Task<void> end_session_of_execd(std::shared_ptr<OpenSandboxProvider> owner, std::string sandbox,
                                std::string session) {
  auto dropping = drop_session_of_execd(owner, sandbox, session);
  const auto outcome = co_await attempt(std::move(dropping));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::not_found)
    log::warn("session not ended", {{"provider", "opensandbox"}, {"reason", error->what()}});
}

}  // namespace

Task<void> OpenSandboxInput::resize(PtySize size) {
  const Json body{{"type", "resize"}, {"cols", size.cols}, {"rows", size.rows}};
  WebSocket::Message message{.text = true, .bytes = body.dump()};
  co_await socket_->write(std::move(message));
}

OpenSandboxProcess::OpenSandboxProcess(std::shared_ptr<OpenSandboxProvider> owner,
                                       std::string sandbox, Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)),
      opensandbox_(std::move(owner)),
      word_(random_hex(16)),
      out_mark_(word_),
      err_mark_(word_) {}

OpenSandboxProcess::~OpenSandboxProcess() {
  if (session_.empty() || (!has_exited() && command_.keep_on_disconnect)) return;
  spawn_detached(owner_->executor(),
                 [opensandbox = opensandbox_, sandbox = sandbox_, session = session_] {
                   return end_session_of_execd(opensandbox, sandbox, session);
                 });
}

std::string OpenSandboxProcess::script() const {
  std::string line = "cd; " + shell::line_of(command_);
  if (command_.pty)
    line = "stty cols " + std::to_string(command_.pty->cols) + " rows " +
           std::to_string(command_.pty->rows) + " 2>/dev/null; (" + line + ")";
  else
    line = "(" + shell::with_input_lines(line) + ")";
  // A kept process may have no reader to remove its session, so its script ends by itself.
  return line + "\ns=$?\n" + EndMark::line_of(word_, !command_.pty) +
         (command_.keep_on_disconnect ? "\nsleep 5" : "\nwhile IFS= read -r s; do :; done");
}

Task<std::string> OpenSandboxProcess::session_command() {
  if (!command_.pty) co_return shell::kReadScript;
  const std::string name = ProcessId::make().value;
  const std::string line = shell::keep_script(script(), name);
  const auto ran = co_await opensandbox_->run(sandbox_, line);
  if (ran.status != 0) throw Error(ErrorCode::unavailable, "the sandbox refused the script");
  co_return shell::run_kept_script(name);
}

Task<void> OpenSandboxProcess::start() {
  const std::string command = co_await session_command();
  RestApi inside = co_await opensandbox_->execd(sandbox_);
  Json body{{"command", command}};
  const Json document = co_await inside.post("/pty", std::move(body));
  const std::string session = text_of(document, "session_id");
  if (session.empty()) throw unexpected_answer("opensandbox");
  session_ = session;
  const std::string path = "/pty/" + percent_encode(session) + "/ws";
  auto socket = co_await opensandbox_->attach(sandbox_, path + (command_.pty ? "" : "?pty=0"));
  const auto executor = co_await asio::this_coro::executor;
  socket_ = std::make_shared<SharedSocket>(std::move(socket), executor);
  using Form = SocketInput::Form;
  input_ = std::make_shared<OpenSandboxInput>(socket_, command_.pty ? Form::terminal : Form::lines);
  starts();
  if (!command_.pty) co_await input_->give_script(script());
  opensandbox_->inputs().add(sandbox_, command_.process_id, input_);
}

std::optional<ProcessEvent> OpenSandboxProcess::event_of(WebSocket::Message message) {
  if (message.text) {
    const Json frame = parse_record(message.bytes);
    const std::string type = text_of(frame, "type");
    if (type == "error") throw Error(ErrorCode::unavailable, "opensandbox broke the process off");
    if (type != "exit") return std::nullopt;
    return exit(exit_status_of(frame, "exit_code").value_or(-1));
  }
  if (message.bytes.empty()) return std::nullopt;
  const char kind = message.bytes.front();
  const size_t head = kind == kReplayed ? kReplayHead : 1;
  if (message.bytes.size() < head) throw unexpected_answer("opensandbox");
  if (kind != kPipeOut && kind != kPipeErr && kind != kReplayed) return std::nullopt;
  const Channel channel = kind == kPipeErr ? Channel::stderr_ : Channel::stdout_;
  EndMark& mark = kind == kPipeErr ? err_mark_ : out_mark_;
  std::string bytes = mark.add(std::string_view(message.bytes).substr(head));
  if (bytes.empty()) return std::nullopt;
  return output(channel, std::move(bytes));
}

Task<std::optional<ProcessEvent>> OpenSandboxProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const bool ended = out_mark_.seen() && (command_.pty || err_mark_.seen());
    if (ended) co_return exit(out_mark_.status());
    auto message = co_await socket_->read();
    if (!message) throw disconnected_without_exit();
    auto event = event_of(std::move(*message));
    if (event) co_return event;
  }
}

Task<void> OpenSandboxProcess::write_stdin(std::string bytes) {
  return input_->write_stdin(std::move(bytes));
}

Task<void> OpenSandboxProcess::close_stdin() { return input_->close_stdin(); }

}  // namespace sandgate
