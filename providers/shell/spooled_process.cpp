#include "providers/shell/spooled_process.hpp"

#include <algorithm>

#include "gateway/core/ids.hpp"

namespace sandgate {
namespace {

// Each fetch waits five seconds, so a launch may take about half a minute.
constexpr int kMaxMissed = 6;
constexpr std::chrono::milliseconds kFetchAgain{1000};

Command named_command(Command command) {
  if (command.process_id.empty()) command.process_id = ProcessId::make().value;
  return command;
}

}  // namespace

SpooledProcess::SpooledProcess(std::shared_ptr<ShellProvider> owner, std::string sandbox,
                               Command command)
    : ShellProcess(std::move(owner), std::move(sandbox), named_command(std::move(command))) {}

Task<shell::Fetched> SpooledProcess::fetch_once() {
  const std::string line = shell::fetch_line(command_.process_id, out_, err_);
  const ShellProvider::LineResult ran = co_await owner_->run(sandbox_, line);
  co_return shell::read_fetched(ran.output);
}

Task<void> SpooledProcess::wait_after(Error error) {
  // Requests that are too many pass by themselves, however long the command takes.
  if (error.code != ErrorCode::rate_limited) retries_.failed(error);
  co_await sleep_for(std::max(error.retry_after.value_or(kFetchAgain), kFetchAgain));
}

Task<void> SpooledProcess::fetch() {
  auto outcome = co_await attempt(fetch_once());
  if (const auto* error = std::get_if<Error>(&outcome)) {
    co_await wait_after(*error);
    co_return;
  }
  retries_.succeeded();
  auto& fetched = std::get<shell::Fetched>(outcome);
  seen_ = seen_ || fetched.known;
  if (!fetched.known && (seen_ || ++missed_ > kMaxMissed))
    throw Error(ErrorCode::unavailable, "the process was lost");
  out_ += fetched.out.size();
  err_ += fetched.err.size();
  if (!fetched.out.empty()) events_.push_back(output(Channel::stdout_, std::move(fetched.out)));
  if (!fetched.err.empty()) events_.push_back(output(Channel::stderr_, std::move(fetched.err)));
  if (fetched.status) events_.push_back(exit(*fetched.status));
}

Task<std::optional<ProcessEvent>> SpooledProcess::next() {
  while (events_.empty() && !has_exited()) co_await fetch();
  if (events_.empty()) co_return std::nullopt;
  ProcessEvent event = std::move(events_.front());
  events_.pop_front();
  co_return event;
}

}  // namespace sandgate
