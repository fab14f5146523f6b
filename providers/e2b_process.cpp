#include "providers/e2b_process.hpp"

#include <csignal>

#include "gateway/core/crypto.hpp"
#include "gateway/core/log.hpp"
#include "providers/shell_command.hpp"

namespace sandgate {
namespace {

constexpr const char* kKeepAlive = "50";  // seconds between envd's signs of life
constexpr auto kE2bSilence = std::chrono::seconds(180);
constexpr size_t kStdinPiece = 512 << 10;

std::string basic_of(const std::string& user) { return "Basic " + base64_encode(user + ":"); }

// What is nobody's any more ends, if it can be reached.
Task<void> end_process(std::shared_ptr<E2bProvider> owner, std::string sandbox,
                       std::string process) {
  const std::string line = shell::signal_line(process, SIGKILL);
  const auto outcome = co_await attempt(owner->run(sandbox, line));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("process not ended", {{"provider", "e2b"}, {"reason", error->what()}});
}

}  // namespace

E2bProcess::E2bProcess(std::shared_ptr<E2bProvider> owner, std::string sandbox, Command command)
    : owner_(std::move(owner)), sandbox_(std::move(sandbox)), command_(std::move(command)) {}

E2bProcess::~E2bProcess() {
  if (exited_ || pid_ == 0 || command_.keep_on_disconnect || command_.process_id.empty()) return;
  spawn_detached(owner_->executor(),
                 [owner = owner_, sandbox = sandbox_, process = command_.process_id] {
                   return end_process(owner, sandbox, process);
                 });
}

Task<void> E2bProcess::start() {
  RestApi envd = co_await owner_->envd(sandbox_);
  RestCall call{.method = "POST",
                .path = "/process.Process/Start",
                .bytes = connect::envelope(e2b::to_start(command_)),
                .headers = {{"Content-Type", "application/connect+json"},
                            {"Connect-Protocol-Version", "1"},
                            {"Keepalive-Ping-Interval", kKeepAlive}}};
  if (!command_.user.empty()) call.headers.emplace_back("Authorization", basic_of(command_.user));
  call.deadline = std::chrono::seconds(30);
  call.silence = kE2bSilence;
  started_ = std::chrono::steady_clock::now();
  auto stream = co_await envd.stream(std::move(call));
  messages_ = std::make_unique<connect::MessageReader>("e2b", std::move(stream));
  auto outcome = co_await attempt(messages_->next());
  if (const auto* error = std::get_if<Error>(&outcome)) {
    // The token was taken with the request; what is unknown is the account.
    if (!command_.user.empty() && are_credentials_refused(*error))
      throw Error::invalid("/user", "is no account of the sandbox");
    throw *error;
  }
  const std::optional<Json>& first = std::get<0>(outcome);
  const auto event = first ? e2b::to_event(*first) : e2b::StartEvent{};
  if (event.kind != e2b::StartEvent::started || event.pid == 0)
    throw Error(ErrorCode::unavailable, "e2b did not start the process");
  pid_ = event.pid;
}

Task<std::optional<ProcessEvent>> E2bProcess::next() {
  if (exited_) co_return std::nullopt;
  for (;;) {
    const auto message = co_await messages_->next();
    if (!message)
      throw Error(ErrorCode::unavailable, "the connection ended before the process did");
    auto event = e2b::to_event(*message);
    if (event.kind == e2b::StartEvent::output && !event.bytes.empty()) {
      offset_ += event.bytes.size();
      co_return ProcessEvent(OutputChunk{event.channel, std::move(event.bytes), offset_});
    }
    if (event.kind != e2b::StartEvent::ended) continue;
    exited_ = true;
    const auto elapsed = std::chrono::steady_clock::now() - started_;
    const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed);
    co_return ProcessEvent(shell::exit_of(event.status, command_, duration));
  }
}

Task<void> E2bProcess::write_stdin(std::string bytes) {
  for (size_t at = 0; at < bytes.size(); at += kStdinPiece) {
    Json body = e2b::to_input(bytes.substr(at, kStdinPiece), command_.pty.has_value());
    co_await owner_->tell(sandbox_, "SendInput", command_.process_id, pid_, std::move(body));
  }
}

Task<void> E2bProcess::close_stdin() {
  co_await owner_->tell(sandbox_, "CloseStdin", command_.process_id, pid_, Json::object());
}

}  // namespace sandgate
