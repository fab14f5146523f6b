#include "providers/runloop/runloop_process.hpp"

#include "providers/shell/shell_command.hpp"

namespace sandgate {
namespace {

constexpr auto kAsk = std::chrono::milliseconds(50);

}  // namespace

RunloopOutput::RunloopOutput(std::shared_ptr<RunloopProvider> owner, std::string execution,
                             std::string name)
    : owner_(std::move(owner)), execution_(std::move(execution)), name_(std::move(name)) {}

Task<void> RunloopOutput::open() {
  RestCall call{
      .path = execution_ + "/stream_" + name_ + "_updates?offset=" + std::to_string(received_),
      .headers = {{"Accept", "text/event-stream"}}};
  call.deadline = std::chrono::seconds(30);
  std::unique_ptr<ByteSource> bytes = co_await owner_->api().stream(std::move(call));
  events_ = std::make_unique<EventReader>(std::move(bytes));
}

Task<std::optional<std::string>> RunloopOutput::piece() {
  if (!events_) co_await open();
  for (;;) {
    const auto event = co_await events_->next();
    if (!event) break;
    auto bytes = runloop::to_output(*event);
    if (!bytes) continue;
    received_ += bytes->size();
    retries_.succeeded();
    co_return bytes;
  }
  events_.reset();
  ended_ = is_over_;
  if (ended_) co_return std::nullopt;
  // A proxy's idle limit or a restart ends a stream in the same way as the end of the program.
  const Json document = co_await owner_->api().get(execution_);
  is_over_ = runloop::to_status(document).has_value();
  ended_ = is_over_ && text_of(document, name_).size() == received_;
  co_return std::nullopt;
}

Task<std::optional<std::string>> RunloopOutput::next() {
  for (Backoff pause(kAsk);;) {
    auto outcome = co_await attempt(piece());
    if (const auto* error = std::get_if<Error>(&outcome)) {
      retries_.failed(*error);
      events_.reset();
    } else {
      auto& bytes = std::get<0>(outcome);
      if (bytes || ended_) co_return std::move(bytes);
    }
    co_await pause.wait();
  }
}

RunloopProcess::RunloopProcess(std::shared_ptr<RunloopProvider> owner, std::string sandbox,
                               Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), runloop_(owner) {}

Task<void> RunloopProcess::start() {
  Json body{{"command", "(cd; " + shell::line_of(command_) + ") </dev/null"}};
  const std::string box = runloop::box_path(sandbox_), path = box + "/execute_async";
  starts();
  const Json document = co_await runloop_->api().post(path, std::move(body));
  const std::string id = text_of(document, "execution_id");
  if (id.empty()) throw Error(ErrorCode::unavailable, "runloop did not start the process");
  execution_ = box + "/executions/" + percent_encode(id);
  std::vector<std::unique_ptr<RunloopOutput>> outputs;
  for (const char* name : {"stdout", "stderr"}) {
    outputs.push_back(std::make_unique<RunloopOutput>(runloop_, execution_, name));
    co_await outputs.back()->open();
  }
  const auto executor = co_await asio::this_coro::executor;
  outputs_ = std::make_unique<MergedStreams<RunloopOutput>>(executor, std::move(outputs));
}

Task<std::optional<int>> RunloopProcess::status() {
  const Json document = co_await runloop_->api().get(execution_);
  co_return runloop::to_status(document);
}

Task<std::optional<ProcessEvent>> RunloopProcess::next() {
  if (has_exited()) co_return std::nullopt;
  auto item = co_await outputs_->next();
  if (item)
    co_return output(item->source == 0 ? Channel::stdout_ : Channel::stderr_,
                     std::move(item->event));
  auto ask = [this] { return status(); };
  const int code = co_await wait_for_status(std::move(ask));
  co_return exit(code);
}

}  // namespace sandgate
