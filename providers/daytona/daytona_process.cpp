#include "providers/daytona/daytona_process.hpp"

#include "gateway/core/ids.hpp"
#include "gateway/core/log.hpp"
#include "providers/retries.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate {
namespace {

// The status may be written shortly after the log has ended.
constexpr auto kStatusTimeout = std::chrono::seconds(5);

std::string session_path(const std::string& session) {
  return "/process/session/" + percent_encode(session);
}

Task<void> drop_session(std::shared_ptr<DaytonaProvider> owner, std::string sandbox,
                        std::string session) {
  RestApi toolbox = co_await owner->toolbox(sandbox);
  co_await toolbox.remove(session_path(session));
}

Task<void> end_session(std::shared_ptr<DaytonaProvider> owner, std::string sandbox,
                       std::string session) {
  const auto outcome = co_await attempt(drop_session(owner, sandbox, session));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("session not ended", {{"provider", "daytona"}, {"reason", error->what()}});
}

}  // namespace

DaytonaProcess::DaytonaProcess(std::shared_ptr<DaytonaProvider> owner, std::string sandbox,
                               Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)),
      daytona_(std::move(owner)),
      session_(command_.process_id.empty() ? ProcessId::make().value : command_.process_id) {}

DaytonaProcess::~DaytonaProcess() {
  if (!has_session_ || (!has_exited() && command_.keep_on_disconnect)) return;
  spawn_detached(owner_->executor(), [daytona = daytona_, sandbox = sandbox_, session = session_] {
    return end_session(daytona, sandbox, session);
  });
}

std::string DaytonaProcess::command_path() const {
  return session_path(session_) + "/command/" + percent_encode(command_id_);
}

Task<void> DaytonaProcess::start() {
  RestApi toolbox = co_await daytona_->toolbox(sandbox_);
  Json session{{"sessionId", session_}};
  has_session_ = true;  // also if the answer is lost
  co_await toolbox.post("/process/session", std::move(session));
  // The command runs in a subshell, so that its exit does not end the session's shell.
  Json body{{"command", "(cd; " + shell::line_of(command_) + ") </dev/null"},
            {"runAsync", true},
            {"suppressInputEcho", true}};
  starts();
  const Json document = co_await toolbox.post(session_path(session_) + "/exec", std::move(body));
  command_id_ = text_of(document, "cmdId");
  if (command_id_.empty()) throw Error(ErrorCode::unavailable, "daytona did not start the process");
  log_ = co_await daytona_->follow(sandbox_, command_path() + "/logs?follow=true");
}

Task<std::optional<int>> DaytonaProcess::status() {
  RestApi toolbox = co_await daytona_->toolbox(sandbox_);
  const Json document = co_await toolbox.get(command_path());
  co_return exit_status_of(document, "exitCode");
}

Task<std::optional<ProcessEvent>> DaytonaProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    auto piece = splitter_.next();
    if (piece) co_return output(piece->channel, std::move(piece->bytes));
    if (log_ended_) break;
    const auto message = co_await log_->read();
    log_ended_ = !message;
    if (message)
      splitter_.add(message->bytes);
    else
      splitter_.end();
  }
  auto ask = [this] { return status(); };
  const int code = co_await wait_for_status(std::move(ask), kStatusTimeout);
  co_return exit(code);
}

}  // namespace sandgate
