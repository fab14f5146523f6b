#include "gateway/ports/watched_app.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::ports {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

Error port_closed() { return Error(ErrorCode::not_found, "the port was closed"); }

}  // namespace

WatchedApp::WatchedApp(http::ClientSide& client, std::chrono::milliseconds silence,
                       StillOpen still_open)
    : client_(client), silence_(silence), still_open_(std::move(still_open)) {}

void WatchedApp::use(std::unique_ptr<AppConnection> connection) {
  connection_ = std::move(connection);
  heard_ = false;
  client_.on_alarm([app = weak_from_this()] {
    if (const auto here = app.lock()) here->ring();
  });
}

Task<size_t> WatchedApp::hear() {
  limit_silence();
  hearing_ = true;
  size_t got = 0;
  try {
    got = co_await connection_->read();
  } catch (const Error&) {
    throw_reason();
    throw;
  }
  hearing_ = false;
  client_.still_alarm();
  heard_ = heard_ || got > 0;
  if (look_is_due()) co_await check_open();
  co_return got;
}

bool WatchedApp::look_is_due() const {
  return std::chrono::steady_clock::now() - looked_ > kLookEvery;
}

Task<void> WatchedApp::check_open() {
  if (!look_is_due()) co_return;
  looked_ = std::chrono::steady_clock::now();
  const bool open = co_await still_open_();
  if (!open) throw port_closed();
}

void WatchedApp::limit_silence() {
  silent_since_ = std::chrono::steady_clock::now();
  client_.set_alarm(std::min<std::chrono::milliseconds>(silence_, kLookEvery));
}

void WatchedApp::client_spoke() {
  if (hearing_) limit_silence();
}

void WatchedApp::ring() {
  using std::chrono::milliseconds;
  if (!connection_) return;
  const auto silent =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - silent_since_);
  if (silent >= silence_) return connection_->give_up();
  client_.set_alarm(std::min<milliseconds>(silence_ - silent, kLookEvery));
  if (looking_) return;
  looking_ = true;
  // Not a companion of every exchange: few are silent for so long.
  spawn_detached(connection_->executor(), look(weak_from_this(), still_open_));
}

Task<void> WatchedApp::look(std::weak_ptr<WatchedApp> app, StillOpen still_open) {
  auto asking = still_open();
  const bool open = co_await std::move(asking);
  const auto here = app.lock();
  if (!here) co_return;
  here->looking_ = false;
  if (!open && here->connection_) here->give_up(std::make_exception_ptr(port_closed()));
}

Task<void> WatchedApp::watch() {
  for (bool open = true; open;) {
    co_await sleep_for(kLookEvery);
    open = co_await still_open_();
  }
  give_up(std::make_exception_ptr(port_closed()));
}

void WatchedApp::give_up(std::exception_ptr reason) {
  if (!reason_) reason_ = std::move(reason);
  connection_->give_up();
}

void WatchedApp::throw_reason() const {
  if (reason_) std::rethrow_exception(reason_);
}

}  // namespace sandgate::ports
