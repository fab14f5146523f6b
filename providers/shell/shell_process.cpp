#include "providers/shell/shell_process.hpp"

#include <csignal>

#include "gateway/core/log.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate {
namespace {

// A vendor's own kill would miss the process group that the supervisor made.
Task<void> end_process(std::shared_ptr<ShellProvider> owner, std::string sandbox,
                       std::string process) {
  const std::string line = shell::signal_line(process, SIGKILL);
  const auto outcome = co_await attempt(owner->run(sandbox, line));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("process not ended",
              {{"provider", owner->descriptor().provider}, {"reason", error->what()}});
}

}  // namespace

ShellProcess::ShellProcess(std::shared_ptr<ShellProvider> owner, std::string sandbox,
                           Command command)
    : owner_(std::move(owner)), sandbox_(std::move(sandbox)), command_(std::move(command)) {}

ShellProcess::~ShellProcess() {
  if (!runs_ || exited_ || command_.keep_on_disconnect || command_.process_id.empty()) return;
  spawn_detached(owner_->executor(),
                 [owner = owner_, sandbox = sandbox_, process = command_.process_id] {
                   return end_process(owner, sandbox, process);
                 });
}

void ShellProcess::starts() {
  runs_ = true;
  started_ = std::chrono::steady_clock::now();
}

ProcessEvent ShellProcess::output(Channel channel, std::string bytes) {
  offset_ += bytes.size();
  return OutputChunk{channel, std::move(bytes), offset_};
}

ProcessEvent ShellProcess::exit(int status) {
  exited_ = true;
  const auto elapsed = std::chrono::steady_clock::now() - started_;
  return shell::exit_of(status, command_,
                        std::chrono::duration_cast<std::chrono::milliseconds>(elapsed));
}

Task<void> ShellProcess::write_stdin(std::string) {
  throw Error(ErrorCode::unsupported, owner_->descriptor().provider + " has no verb 'stdin'");
  co_return;
}

// There is no stdin, so it is closed already.
Task<void> ShellProcess::close_stdin() { co_return; }

}  // namespace sandgate
