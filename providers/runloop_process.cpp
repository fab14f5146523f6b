#include "providers/runloop_process.hpp"

#include <csignal>

#include "gateway/core/log.hpp"
#include "providers/shell_command.hpp"

namespace sandgate {
namespace {

constexpr auto kAsk = std::chrono::milliseconds(50);
constexpr auto kAskLast = std::chrono::milliseconds(1000);

// The vendor's own kill would leave the group that the supervisor made.
Task<void> end_execution(std::shared_ptr<RunloopProvider> owner, std::string sandbox,
                         std::string process) {
  const std::string line = shell::signal_line(process, SIGKILL);
  const auto outcome = co_await attempt(owner->run(sandbox, line));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("process not ended", {{"provider", "runloop"}, {"reason", error->what()}});
}

}  // namespace

RunloopProcess::RunloopProcess(std::shared_ptr<RunloopProvider> owner, std::string sandbox,
                               Command command)
    : owner_(std::move(owner)), sandbox_(std::move(sandbox)), command_(std::move(command)) {}

RunloopProcess::~RunloopProcess() {
  if (exited_ || execution_.empty() || command_.keep_on_disconnect) return;
  if (command_.process_id.empty()) return;
  spawn_detached(owner_->executor(),
                 [owner = owner_, sandbox = sandbox_, process = command_.process_id] {
                   return end_execution(owner, sandbox, process);
                 });
}

std::string RunloopProcess::execution_path() const {
  return runloop::box_path(sandbox_) + "/executions/" + percent_encode(execution_);
}

Task<std::unique_ptr<EventReader>> RunloopProcess::open(std::string stream) {
  RestCall call{.path = execution_path() + "/" + stream,
                .headers = {{"Accept", "text/event-stream"}}};
  call.deadline = std::chrono::seconds(30);
  std::unique_ptr<ByteSource> bytes = co_await owner_->api().stream(std::move(call));
  co_return std::make_unique<EventReader>(std::move(bytes));
}

Task<void> RunloopProcess::start() {
  Json body{{"command", "(cd; " + shell::line_of(command_) + ") </dev/null"}};
  const std::string path = runloop::box_path(sandbox_) + "/execute_async";
  started_ = std::chrono::steady_clock::now();
  const Json document = co_await owner_->api().post(path, std::move(body));
  execution_ = document.is_object() ? document.value("execution_id", "") : "";
  if (execution_.empty()) throw Error(ErrorCode::unavailable, "runloop did not start the process");
  std::vector<std::unique_ptr<EventReader>> readers;
  readers.push_back(co_await open("stream_stdout_updates"));
  readers.push_back(co_await open("stream_stderr_updates"));
  const auto executor = co_await asio::this_coro::executor;
  events_ = std::make_unique<MergedEvents>(executor, std::move(readers));
}

Task<int> RunloopProcess::status() {
  for (auto wait = kAsk;; wait = std::min(wait * 2, kAskLast)) {
    const Json document = co_await owner_->api().get(execution_path());
    if (const auto code = runloop::to_status(document)) co_return *code;
    co_await sleep_for(wait);
  }
}

Task<std::optional<ProcessEvent>> RunloopProcess::next() {
  if (exited_) co_return std::nullopt;
  for (;;) {
    const auto item = co_await events_->next();
    if (!item) break;
    auto output = runloop::to_output(item->event);
    if (!output) continue;
    offset_ += output->size();
    const Channel channel = item->source == 0 ? Channel::stdout_ : Channel::stderr_;
    co_return ProcessEvent(OutputChunk{channel, std::move(*output), offset_});
  }
  const int code = co_await status();
  exited_ = true;
  const auto elapsed = std::chrono::steady_clock::now() - started_;
  const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed);
  co_return ProcessEvent(shell::exit_of(code, command_, duration));
}

Task<void> RunloopProcess::write_stdin(std::string) {
  throw Error(ErrorCode::unsupported, "runloop has no verb 'stdin'");
  co_return;
}

// There is none, so it is closed.
Task<void> RunloopProcess::close_stdin() { co_return; }

}  // namespace sandgate
