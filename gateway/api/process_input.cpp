#include "gateway/api/process_input.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kInputPiece = 64 << 10;  // so that backends buffer little
constexpr std::chrono::seconds kTimeout{30};  // with a backend that asks to wait
constexpr milliseconds kUsualWait{500}, kMinWait{50};
// A backend may refuse input a moment before it tells of the exit.
constexpr std::chrono::seconds kGrace{2};

// Returns the failure that remains. Only a rate limit says for sure that nothing was written:
// repeating another failure could write twice.
template <class Write>
Task<std::optional<Error>> insist(Write write) {
  const auto until = steady_clock::now() + kTimeout;
  for (;;) {
    auto outcome = co_await attempt(write());
    auto* failure = std::get_if<Error>(&outcome);
    if (!failure) co_return std::nullopt;
    const auto wait = std::max(failure->retry_after.value_or(kUsualWait), kMinWait);
    if (failure->code != ErrorCode::rate_limited || steady_clock::now() + wait > until)
      co_return std::move(*failure);
    co_await sleep_for(wait);
  }
}

Task<std::optional<Error>> insist_on_writing(ProcessStream& stream, std::string bytes) {
  return insist([&stream, bytes = std::move(bytes)] { return stream.write_stdin(bytes); });
}

Task<std::optional<Error>> insist_on_closing(ProcessStream& stream) {
  return insist([&stream] { return stream.close_stdin(); });
}

Task<std::optional<Error>> loss_of(std::optional<Error> failure) {
  if (!failure || !is_lost_input(*failure)) co_return std::nullopt;
  co_await sleep_for(kGrace);
  co_return failure;
}

}  // namespace

bool is_lost_input(const Error& failure) {
  switch (failure.code) {
    case ErrorCode::not_found:
    case ErrorCode::conflict:
    case ErrorCode::invalid:
      return false;
    default:
      return true;
  }
}

Task<std::optional<Error>> write_input(ProcessStream& stream, std::string bytes) {
  auto failure = co_await insist_on_writing(stream, std::move(bytes));
  co_return co_await loss_of(std::move(failure));
}

Task<std::optional<Error>> close_input(ProcessStream& stream) {
  auto failure = co_await insist_on_closing(stream);
  co_return co_await loss_of(std::move(failure));
}

Task<std::optional<Error>> write_and_close_input(ProcessStream& stream, std::string bytes) {
  std::optional<Error> failure;
  for (size_t at = 0; at < bytes.size() && !failure; at += kInputPiece)
    failure = co_await insist_on_writing(stream, bytes.substr(at, kInputPiece));
  if (!failure) failure = co_await insist_on_closing(stream);
  co_return co_await loss_of(std::move(failure));
}

Task<void> ProcessWithInput::run() {
  if (!input_) co_return;
  loss_ = co_await write_and_close_input(stream_, std::move(*input_));
  if (loss_) lost_.set();
  if (!loss_) input_.reset();
}

Task<std::optional<ProcessEvent>> ProcessWithInput::next() {
  if (!input_) co_return co_await stream_.next();
  Settled<std::optional<ProcessEvent>> settled;
  auto race = ends_before(settle(stream_.next(), settled), lost_.wait());
  const bool came = co_await std::move(race);
  if (!came) throw *loss_;
  co_return settled.take();
}

}  // namespace sandgate::api
