#include "providers/kubernetes/kubernetes_process.hpp"

#include "gateway/core/ids.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/shell/shell_script.hpp"

namespace sandgate {
namespace {

constexpr char kKubeStdout = 1, kKubeStderr = 2, kKubeStatus = 3, kKubeResize = 4;
constexpr std::string_view kKubeCloseStdin("\xFF\0", 2);
constexpr const char* kKubeFive = "v5.channel.k8s.io";
constexpr const char* kKubeFour = "v4.channel.k8s.io";

}  // namespace

Task<void> KubernetesInput::close_bytes() {
  WebSocket::Message message{.bytes = std::string(kKubeCloseStdin)};
  co_await socket_->write(std::move(message));
}

Task<void> KubernetesInput::resize(PtySize size) {
  const Json body{{"Width", size.cols}, {"Height", size.rows}};
  return send(kKubeResize, body.dump());
}

KubernetesProcess::KubernetesProcess(std::shared_ptr<KubernetesProvider> owner, std::string sandbox,
                                     Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), kubernetes_(std::move(owner)) {}

Task<std::vector<std::string>> KubernetesProcess::words() {
  if (!command_.pty) co_return std::vector<std::string>{"/bin/sh", "-c", shell::kReadScript};
  const std::string name = ProcessId::make().value;
  const std::string script = "cd; stty cols " + std::to_string(command_.pty->cols) + " rows " +
                             std::to_string(command_.pty->rows) + " 2>/dev/null; " +
                             shell::line_of(command_);
  const std::string line = shell::keep_script(script, name);
  const auto ran = co_await kubernetes_->run(sandbox_, line);
  if (ran.status != 0) throw Error(ErrorCode::unavailable, "the sandbox refused the script");
  co_return std::vector<std::string>{"/bin/sh", "-c", shell::run_kept_script(name)};
}

Task<void> KubernetesProcess::start() {
  std::vector<std::string> program = co_await words();
  auto socket =
      co_await kubernetes_->open_exec(sandbox_, std::move(program), command_.pty.has_value());
  const std::string protocol = socket->protocol();
  if (protocol != kKubeFive && protocol != kKubeFour)
    throw Error(ErrorCode::unavailable, "kubernetes speaks no version of exec that is known");
  const auto executor = co_await asio::this_coro::executor;
  socket_ = std::make_shared<SharedSocket>(std::move(socket), executor);
  using Form = SocketInput::Form;
  const Form form = command_.pty            ? Form::terminal
                    : protocol == kKubeFour ? Form::lines
                                            : Form::bytes;
  input_ = std::make_shared<KubernetesInput>(socket_, form);
  starts();
  std::string script = "cd; " + shell::line_of(command_);
  if (form == Form::lines) script = shell::with_input_lines(script);
  if (command_.pty)
    co_await input_->resize(*command_.pty);
  else
    co_await input_->give_script(std::move(script));
  kubernetes_->inputs().add(sandbox_, command_.process_id, input_);
}

Task<std::optional<ProcessEvent>> KubernetesProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    auto message = co_await socket_->read();
    if (!message) throw disconnected_without_exit();
    std::string& bytes = message->bytes;
    if (bytes.size() < 2) continue;  // every channel starts with an empty message
    const char channel = bytes.front();
    bytes.erase(0, 1);
    if (channel == kKubeStdout) co_return output(Channel::stdout_, std::move(bytes));
    if (channel == kKubeStderr) co_return output(Channel::stderr_, std::move(bytes));
    if (channel == kKubeStatus) co_return exit(kubernetes::to_status(bytes));
  }
}

Task<void> KubernetesProcess::write_stdin(std::string bytes) {
  return input_->write_stdin(std::move(bytes));
}

Task<void> KubernetesProcess::close_stdin() { return input_->close_stdin(); }

}  // namespace sandgate
