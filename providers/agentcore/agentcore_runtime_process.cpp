#include "providers/agentcore/agentcore_runtime_process.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/random.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

// The supervisor enforces the limit and reports it; the vendor's limit applies if it fails to.
constexpr auto kRuntimeSlack = std::chrono::seconds(10);

}  // namespace

AgentcoreRuntimeProcess::AgentcoreRuntimeProcess(std::shared_ptr<AgentcoreRuntimeProvider> owner,
                                                 std::string sandbox, Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)),
      runtime_(std::move(owner)),
      word_(random_hex(16)),
      out_(word_),
      err_(word_) {}

Task<void> AgentcoreRuntimeProcess::start() {
  const std::string line = agentcore_runtime::streamed(shell::line_of(command_), word_);
  const std::string script = agentcore_runtime::in_session(line, command_.cwd);
  const auto limit = command_.timeout.count() > 0 ? command_.timeout + kRuntimeSlack
                                                  : std::chrono::milliseconds(0);
  starts();
  StartingRequest starting(runtime_->seen(), sandbox_);
  events_ = co_await runtime_->start(sandbox_, script, limit, std::chrono::seconds(0));
  std::optional<std::string> word = out_.lines.next();
  while (!word) {
    if (ended_) throw Error(ErrorCode::unavailable, "the agent runtime did not run the command");
    co_await pull();
    word = out_.lines.next();
  }
  starting.answered();
  if (*word == agentcore_runtime::kHere) co_return;
  exit(0);  // marks the process as ended, since nothing runs
  if (*word == agentcore_runtime::kNowhere)
    throw Error::invalid("/cwd", "is not a directory in the sandbox");
  if (*word != agentcore_runtime::kGone) throw unexpected_answer("agentcore_runtime");
  co_await runtime_->kill(sandbox_);
  throw Error::not_found("sandbox", sandbox_);
}

Task<void> AgentcoreRuntimeProcess::pull() {
  const auto event = co_await events_->next();
  if (!event) throw ended_without_exit();
  if (event->type != "chunk") co_return;
  const agentcore_runtime::Chunk part = agentcore_runtime::to_chunk(event->payload);
  if (part.timed_out)
    throw Error(ErrorCode::unavailable, "agentcore_runtime ends a command after an hour");
  out_.lines.add(part.out);
  err_.lines.add(part.err);
  ended_ = part.status.has_value();
}

void AgentcoreRuntimeProcess::take(Output& from, Channel channel) {
  while (const auto line = from.lines.next()) {
    const auto bytes = base64_decode(*line);
    if (!bytes) throw unexpected_answer("agentcore_runtime");
    std::string more = from.mark.add(*bytes);
    if (!more.empty()) ready_.push_back(output(channel, std::move(more)));
  }
}

Task<std::optional<ProcessEvent>> AgentcoreRuntimeProcess::next() {
  for (;;) {
    take(out_, Channel::stdout_);
    take(err_, Channel::stderr_);
    if (!ready_.empty()) {
      ProcessEvent event = std::move(ready_.front());
      ready_.pop_front();
      co_return event;
    }
    if (has_exited()) co_return std::nullopt;
    // Background processes may keep the outputs open, and the vendor then waits for them.
    if (out_.mark.seen() && err_.mark.seen()) co_return exit(out_.mark.status());
    if (ended_) throw ended_without_exit();
    co_await pull();
  }
}

}  // namespace sandgate
