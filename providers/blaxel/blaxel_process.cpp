#include "providers/blaxel/blaxel_process.hpp"

#include "gateway/core/ids.hpp"

namespace sandgate {
namespace {

// The server sends a keep-alive every five seconds.
constexpr auto kBlaxelSilence = std::chrono::seconds(60);
constexpr size_t kBlaxelPiece = 32 << 10;

}  // namespace

BlaxelProcess::BlaxelProcess(std::shared_ptr<BlaxelProvider> owner, std::string sandbox,
                             Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)),
      blaxel_(std::move(owner)),
      name_(command_.process_id.empty() ? ProcessId::make().value : command_.process_id) {}

Task<void> BlaxelProcess::start() {
  RestApi server = co_await blaxel_->inside(sandbox_);
  Json body = blaxel::to_start(command_, name_);
  starts();
  co_await server.post("/process", std::move(body));
  // Other formats lose bytes that are not text.
  RestCall call{.path = "/process/" + percent_encode(name_) + "/logs/stream",
                .headers = {{"Accept", "application/x-ndjson"}}};
  call.deadline = std::chrono::seconds(30);
  call.silence = kBlaxelSilence;
  auto stream = co_await server.stream(std::move(call));
  const auto media = find_field(stream->headers(), "Content-Type");
  if (!media || !media->starts_with("application/x-ndjson"))
    throw Error(ErrorCode::unavailable, "the sandbox's image has too old a server");
  bytes_ = std::move(stream);
}

Task<std::optional<std::string>> BlaxelProcess::line() {
  for (;;) {
    if (auto line = lines_.next()) co_return line;
    if (!bytes_) co_return lines_.rest();
    piece_.resize(kBlaxelPiece);
    const size_t count = co_await bytes_->read(piece_);
    lines_.add(std::string_view(piece_).substr(0, count));
    if (count == 0) bytes_.reset();
  }
}

Task<std::optional<ProcessEvent>> BlaxelProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    const auto text = co_await line();
    if (!text) break;
    if (text->empty()) continue;
    auto piece = blaxel::to_output(*text);
    if (piece) co_return output(piece->channel, std::move(piece->bytes));
  }
  // The server's own status document would repeat all of the output.
  const int code = co_await blaxel_->stored_status(sandbox_, name_);
  co_return exit(code);
}

Task<void> BlaxelProcess::write_stdin(std::string bytes) {
  return blaxel_->write_stdin(sandbox_, name_, std::move(bytes));
}

Task<void> BlaxelProcess::close_stdin() { return blaxel_->close_stdin(sandbox_, name_); }

}  // namespace sandgate
