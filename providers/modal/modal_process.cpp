#include "providers/modal/modal_process.hpp"

#include "gateway/core/ids.hpp"
#include "providers/backoff.hpp"
#include "providers/modal/modal.hpp"

namespace sandgate {
namespace {

constexpr auto kStdioSilence = std::chrono::seconds(120);

std::string exec_id_of(const Command& command) {
  return modal::uuid_of(command.process_id.empty() ? ProcessId::make().value : command.process_id);
}

}  // namespace

ModalOutput::ModalOutput(std::shared_ptr<ModalProvider> owner, std::string sandbox,
                         std::string exec, Channel channel)
    : owner_(std::move(owner)),
      sandbox_(std::move(sandbox)),
      exec_(std::move(exec)),
      channel_(channel) {}

Task<std::optional<std::string>> ModalOutput::message() {
  ModalRouters& routers = owner_->routers();
  if (!stream_) {
    const std::string task = co_await routers.task(sandbox_);
    std::string asked = modal::to_read(task, exec_, channel_, offset_);
    stream_ =
        co_await routers.stream(sandbox_, "TaskExecStdioRead", std::move(asked), kStdioSilence);
  }
  co_return co_await stream_->next();
}

Task<std::optional<std::string>> ModalOutput::next() {
  for (Backoff pause;;) {
    auto outcome = co_await attempt(message());
    if (const auto* error = std::get_if<Error>(&outcome)) {
      // A timeout is not a failure: the program may just be silent.
      if (error->code != ErrorCode::timeout) retries_.failed(*error);
      stream_.reset();
      co_await pause.wait();
      continue;
    }
    const auto& received = std::get<0>(outcome);
    if (!received) co_return std::nullopt;
    std::string bytes = modal::from_read(*received);
    retries_.succeeded();
    offset_ += bytes.size();
    if (!bytes.empty()) co_return bytes;
  }
}

ModalProcess::ModalProcess(std::shared_ptr<ModalProvider> owner, std::string sandbox,
                           Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)),
      modal_(std::move(owner)),
      exec_(exec_id_of(command_)) {}

Task<void> ModalProcess::start() {
  const std::string task = co_await modal_->routers().task(sandbox_);
  std::string asked = modal::to_start(task, exec_, command_);
  starts();
  co_await modal_->routers().call(sandbox_, "TaskExecStart", std::move(asked));
  std::vector<std::unique_ptr<ModalOutput>> readers;
  for (const Channel channel : {Channel::stdout_, Channel::stderr_})
    readers.push_back(std::make_unique<ModalOutput>(modal_, sandbox_, exec_, channel));
  // A terminal's output is all on stdout.
  if (command_.pty) readers.pop_back();
  const auto executor = co_await asio::this_coro::executor;
  outputs_ = std::make_unique<MergedStreams<ModalOutput>>(executor, std::move(readers));
}

Task<std::optional<ProcessEvent>> ModalProcess::next() {
  if (has_exited()) co_return std::nullopt;
  auto item = co_await outputs_->next();
  if (item)
    co_return output(item->source == 0 ? Channel::stdout_ : Channel::stderr_,
                     std::move(item->event));
  const int status = co_await modal_->wait_for_exit(sandbox_, exec_);
  co_return exit(status);
}

Task<void> ModalProcess::write_stdin(std::string bytes) {
  return modal_->feed(sandbox_, exec_, std::move(bytes), /*last=*/false);
}

Task<void> ModalProcess::close_stdin() { return modal_->feed(sandbox_, exec_, "", /*last=*/true); }

}  // namespace sandgate
