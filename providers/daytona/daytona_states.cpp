#include "providers/backoff.hpp"
#include "providers/daytona/daytona.hpp"

// Pause and resume of DaytonaProvider are the vendor's stop and start, which keep the disk.
namespace sandgate {
namespace {

constexpr auto kDaytonaDeadline = std::chrono::seconds(60);
constexpr auto kDaytonaTimeout = std::chrono::minutes(3);

}  // namespace

Task<void> DaytonaProvider::wait_for_state(std::string id, BackendState state) {
  const auto limit = std::chrono::steady_clock::now() + kDaytonaTimeout;
  for (Backoff pause; std::chrono::steady_clock::now() < limit; co_await pause.wait()) {
    const auto box = co_await existing(box_of(id), id);
    if (box.failed) throw Error(ErrorCode::unavailable, "daytona reports the sandbox as failed");
    const bool there = state == BackendState::running ? box.running : box.sandbox.state == state;
    if (there) co_return;
  }
  throw Error(ErrorCode::timeout, "daytona did not change the sandbox's state in time");
}

Task<void> DaytonaProvider::change_state(std::string id, std::string verb, BackendState state) {
  RestCall call{.method = "POST", .path = "/sandbox/" + percent_encode(id) + "/" + verb};
  call.deadline = kDaytonaDeadline;
  const auto asked = co_await attempt(api_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&asked)) {
    // It may be in that state already, or in the transition to it, for an earlier request.
    const auto box = co_await existing(box_of(id), id);
    const bool stays =
        state == BackendState::paused ? box.running : box.sandbox.state == BackendState::paused;
    if (stays) throw *error;
  }
  co_await wait_for_state(id, state);
}

Task<Keeps> DaytonaProvider::pause(std::string id, Keeps) {
  const auto box = co_await existing(box_of(id), id);
  if (box.sandbox.state == BackendState::paused) co_return box.sandbox.kept;
  co_await change_state(id, "stop", BackendState::paused);
  co_return Keeps::disk;
}

Task<void> DaytonaProvider::resume(std::string id) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.running) co_await change_state(id, "start", BackendState::running);
}

}  // namespace sandgate
