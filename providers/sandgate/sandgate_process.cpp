#include "providers/sandgate/sandgate_process.hpp"

#include "providers/sandgate/sandgate_wire.hpp"

namespace sandgate {
namespace {

// Four times the interval of a gateway's keep-alive comments.
constexpr auto kGatewaySilence = std::chrono::seconds(60);

}  // namespace

SandgateProcess::SandgateProcess(std::shared_ptr<void> owner, RestApi& api, std::string path,
                                 std::string process, std::unique_ptr<EventReader> events,
                                 bool has_stdin)
    : owner_(std::move(owner)),
      api_(api),
      path_(std::move(path)),
      process_(std::move(process)),
      has_stdin_(has_stdin),
      events_(std::move(events)) {}

Task<std::optional<ProcessEvent>> SandgateProcess::next() {
  if (exited_) co_return std::nullopt;
  if (!events_) {
    RestCall call{.path = path_ + "/processes/" + percent_encode(process_) + "/output"};
    events_ = co_await open_events(api_, std::move(call));
  }
  for (;;) {
    const auto event = co_await events_->next();
    if (!event) throw disconnected_without_exit();
    auto translated = wire::to_process_event(*event);
    if (!translated) continue;
    exited_ = std::holds_alternative<ProcessExit>(*translated);
    co_return translated;
  }
}

Task<void> SandgateProcess::write_stdin(std::string bytes) {
  RestCall call{.method = "POST",
                .path = path_ + "/processes/" + percent_encode(process_) + "/stdin",
                .bytes = std::move(bytes)};
  // The call lasts until the process has read the bytes.
  call.deadline = std::chrono::milliseconds(0);
  co_await api_.call(std::move(call));
}

Task<void> SandgateProcess::close_stdin() {
  // Without the verb, standard input is empty from the start.
  if (!has_stdin_) co_return;
  RestCall call{.method = "DELETE",
                .path = path_ + "/processes/" + percent_encode(process_) + "/stdin"};
  co_await api_.call(std::move(call));
}

Task<std::unique_ptr<EventReader>> open_events(RestApi& api, RestCall call) {
  call.headers.emplace_back("Accept", "text/event-stream");
  call.silence = kGatewaySilence;
  std::unique_ptr<ByteSource> stream = co_await api.stream(std::move(call));
  co_return std::make_unique<EventReader>(std::move(stream));
}

}  // namespace sandgate
