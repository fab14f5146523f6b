#include "providers/cloudflare/cloudflare_process.hpp"

#include "providers/shell/shell_command.hpp"

namespace sandgate {

CloudflareProcess::CloudflareProcess(std::shared_ptr<CloudflareProvider> owner, std::string sandbox,
                                     Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), cloudflare_(std::move(owner)) {}

Task<void> CloudflareProcess::start() {
  const std::string line = "( " + shell::line_of(command_) + " ) </dev/null";
  RestCall call{.method = "POST",
                .path = cloudflare::box_path(sandbox_) + "/exec",
                .json = cloudflare::to_exec(line)};
  call.deadline = std::chrono::seconds(30);
  starts();
  StartingRequest starting(cloudflare_->seen(), sandbox_);
  std::unique_ptr<ByteSource> answer = co_await cloudflare_->api().stream(std::move(call));
  starting.answered();
  events_ = std::make_unique<EventReader>(std::move(answer));
}

Task<std::optional<ProcessEvent>> CloudflareProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const auto event = co_await events_->next();
    if (!event) throw ended_without_exit();
    cloudflare::ExecEvent part = cloudflare::to_event(*event);
    if (part.status) co_return exit(*part.status);
    if (!part.bytes.empty()) co_return output(part.channel, std::move(part.bytes));
  }
}

}  // namespace sandgate
