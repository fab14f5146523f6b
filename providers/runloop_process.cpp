#include "providers/runloop_process.hpp"

#include "providers/growing_pause.hpp"
#include "providers/shell_command.hpp"

namespace sandgate {
namespace {

constexpr auto kAsk = std::chrono::milliseconds(50);

}  // namespace

RunloopProcess::RunloopProcess(std::shared_ptr<RunloopProvider> owner, std::string sandbox,
                               Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), runloop_(*owner) {}

std::string RunloopProcess::execution_path() const {
  return runloop::box_path(sandbox_) + "/executions/" + percent_encode(execution_);
}

Task<std::unique_ptr<EventReader>> RunloopProcess::open(std::string stream) {
  RestCall call{.path = execution_path() + "/" + stream,
                .headers = {{"Accept", "text/event-stream"}}};
  call.deadline = std::chrono::seconds(30);
  std::unique_ptr<ByteSource> bytes = co_await runloop_.api().stream(std::move(call));
  co_return std::make_unique<EventReader>(std::move(bytes));
}

Task<void> RunloopProcess::start() {
  Json body{{"command", "(cd; " + shell::line_of(command_) + ") </dev/null"}};
  const std::string path = runloop::box_path(sandbox_) + "/execute_async";
  starts();
  const Json document = co_await runloop_.api().post(path, std::move(body));
  execution_ = document.is_object() ? document.value("execution_id", "") : "";
  if (execution_.empty()) throw Error(ErrorCode::unavailable, "runloop did not start the process");
  std::vector<std::unique_ptr<EventReader>> readers;
  readers.push_back(co_await open("stream_stdout_updates"));
  readers.push_back(co_await open("stream_stderr_updates"));
  const auto executor = co_await asio::this_coro::executor;
  events_ = std::make_unique<MergedEvents>(executor, std::move(readers));
}

Task<int> RunloopProcess::status() {
  for (GrowingPause pause(kAsk);;) {
    const Json document = co_await runloop_.api().get(execution_path());
    if (const auto code = runloop::to_status(document)) co_return *code;
    co_await pause.wait();
  }
}

Task<std::optional<ProcessEvent>> RunloopProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const auto item = co_await events_->next();
    if (!item) break;
    auto bytes = runloop::to_output(item->event);
    if (!bytes) continue;
    co_return output(item->source == 0 ? Channel::stdout_ : Channel::stderr_, std::move(*bytes));
  }
  const int code = co_await status();
  co_return exit(code);
}

}  // namespace sandgate
