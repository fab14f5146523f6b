#include "providers/e2b/e2b_process.hpp"

#include "gateway/core/crypto.hpp"

namespace sandgate {
namespace {

constexpr const char* kKeepAlive = "50";  // seconds between envd's keep-alive messages
constexpr auto kE2bSilence = std::chrono::seconds(180);
constexpr size_t kStdinPiece = 512 << 10;

std::string basic_of(const std::string& user) { return "Basic " + base64_encode(user + ":"); }

}  // namespace

E2bProcess::E2bProcess(std::shared_ptr<E2bProvider> owner, std::string sandbox, Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), e2b_(std::move(owner)) {}

Task<void> E2bProcess::start() {
  RestApi envd = co_await e2b_->envd(sandbox_);
  RestCall call{.method = "POST",
                .path = "/process.Process/Start",
                .bytes = connect::envelope(e2b::to_start(command_)),
                .headers = {{"Content-Type", "application/connect+json"},
                            {"Connect-Protocol-Version", "1"},
                            {"Keepalive-Ping-Interval", kKeepAlive}}};
  if (!command_.user.empty()) call.headers.emplace_back("Authorization", basic_of(command_.user));
  call.deadline = std::chrono::seconds(30);
  call.silence = kE2bSilence;
  starts();
  auto stream = co_await envd.stream(std::move(call));
  messages_ = std::make_unique<connect::MessageReader>("e2b", std::move(stream));
  auto outcome = co_await attempt(messages_->next());
  if (const auto* error = std::get_if<Error>(&outcome)) {
    // The access token was accepted with the request, so this refusal is about the account.
    if (!command_.user.empty() && are_credentials_refused(*error))
      throw Error::invalid("/user", "is not an account of the sandbox");
    // Of what is asked of envd, only the directory may be wrong: the program is our own.
    if (!command_.cwd.empty() && error->code == ErrorCode::invalid)
      throw Error::invalid("/cwd", "is not a directory in the sandbox");
    throw *error;
  }
  const std::optional<Json>& first = std::get<0>(outcome);
  const auto event = first ? e2b::to_event(*first) : e2b::StartEvent{};
  if (event.kind != e2b::StartEvent::started || event.pid == 0)
    throw Error(ErrorCode::unavailable, "e2b did not start the process");
  pid_ = event.pid;
}

Task<std::optional<ProcessEvent>> E2bProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const auto message = co_await messages_->next();
    if (!message) throw disconnected_without_exit();
    auto event = e2b::to_event(*message);
    if (event.kind == e2b::StartEvent::output && !event.bytes.empty())
      co_return output(event.channel, std::move(event.bytes));
    if (event.kind == e2b::StartEvent::ended) co_return exit(event.status);
  }
}

Task<void> E2bProcess::write_stdin(std::string bytes) {
  for (size_t at = 0; at < bytes.size(); at += kStdinPiece) {
    Json body = e2b::to_input(bytes.substr(at, kStdinPiece), command_.pty.has_value());
    co_await e2b_->call_process(sandbox_, "SendInput", command_.process_id, pid_, std::move(body),
                                /*waits=*/true);
  }
}

Task<void> E2bProcess::close_stdin() {
  co_await e2b_->call_process(sandbox_, "CloseStdin", command_.process_id, pid_, Json::object());
}

}  // namespace sandgate
