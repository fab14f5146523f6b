#include "gateway/ports/app_exchange.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::ports {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

Error port_closed() { return Error(ErrorCode::not_found, "the port was closed"); }

}  // namespace

AppExchange::AppExchange(http::ClientSide& client, std::chrono::milliseconds silence,
                         StillOpen still_open)
    : client_(client), silence_(silence), still_open_(std::move(still_open)) {}

void AppExchange::use(std::unique_ptr<AppConnection> connection) {
  connection_ = std::move(connection);
  received_ = false;
  client_.on_timer([app = weak_from_this()] {
    if (const auto here = app.lock()) here->on_timer();
  });
}

Task<size_t> AppExchange::read() {
  restart_silence_timer();
  reading_ = true;
  size_t got = 0;
  try {
    got = co_await connection_->read();
  } catch (const Error&) {
    throw_reason();
    throw;
  }
  reading_ = false;
  client_.cancel_timer();
  received_ = received_ || got > 0;
  if (check_is_due()) co_await check_open();
  co_return got;
}

bool AppExchange::check_is_due() const {
  return std::chrono::steady_clock::now() - open_checked_at_ > kLookEvery;
}

Task<void> AppExchange::check_open() {
  if (!check_is_due()) co_return;
  open_checked_at_ = std::chrono::steady_clock::now();
  const bool open = co_await still_open_();
  if (!open) throw port_closed();
}

void AppExchange::restart_silence_timer() {
  silent_since_ = std::chrono::steady_clock::now();
  client_.start_timer(std::min<std::chrono::milliseconds>(silence_, kLookEvery));
}

void AppExchange::note_client_activity() {
  if (reading_) restart_silence_timer();
}

void AppExchange::on_timer() {
  using std::chrono::milliseconds;
  if (!connection_) return;
  const auto silent =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - silent_since_);
  if (silent >= silence_) return connection_->cancel();
  client_.start_timer(std::min<milliseconds>(silence_ - silent, kLookEvery));
  if (checking_) return;
  checking_ = true;
  // Not a companion of every exchange: few are silent for so long.
  spawn_detached(connection_->executor(), check_in_background(weak_from_this(), still_open_));
}

Task<void> AppExchange::check_in_background(std::weak_ptr<AppExchange> app, StillOpen still_open) {
  auto asking = still_open();
  const bool open = co_await std::move(asking);
  const auto here = app.lock();
  if (!here) co_return;
  here->checking_ = false;
  if (!open && here->connection_) here->abort(std::make_exception_ptr(port_closed()));
}

Task<void> AppExchange::watch() {
  for (bool open = true; open;) {
    co_await sleep_for(kLookEvery);
    open = co_await still_open_();
  }
  abort(std::make_exception_ptr(port_closed()));
}

void AppExchange::abort(std::exception_ptr reason) {
  if (!reason_) reason_ = std::move(reason);
  connection_->cancel();
}

void AppExchange::throw_reason() const {
  if (reason_) std::rethrow_exception(reason_);
}

}  // namespace sandgate::ports
