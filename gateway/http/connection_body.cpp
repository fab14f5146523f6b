#include "gateway/http/connection_body.hpp"

namespace sandgate::http {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

std::optional<uint64_t> ConnectionBody::length() const {
  const auto declared = parser_.content_length();
  return declared ? std::optional<uint64_t>(*declared) : std::nullopt;
}

Task<void> ConnectionBody::send_continue() {
  if (!parser_.expects_continue() || continued_) co_return;
  continued_ = true;
  const std::array<asio::const_buffer, 1> buffers{asio::buffer(kContinue.data(), kContinue.size())};
  co_await transport_.write(buffers, limits_.write_timeout);
}

void ConnectionBody::set_min_pace(MinPace pace) {
  pace_.reset();
  if (pace != MinPace::none) pace_ = pace == MinPace::whole ? limits_.whole_body : limits_.upload;
}

Task<size_t> ConnectionBody::receive(asio::mutable_buffer into) {
  using std::chrono::milliseconds;
  milliseconds limit = limits_.body_timeout;
  if (pace_) {
    const auto left = pace_->patience - std::chrono::duration_cast<milliseconds>(waited_);
    // A limit of zero would disable the deadline.
    limit = std::max(milliseconds(1), limit.count() == 0 ? left : std::min(limit, left));
  }
  transport_.deadline.arm(limit);
  const auto begin = std::chrono::steady_clock::now();
  const size_t bytes = co_await transport_.read_some(into);
  transport_.deadline.disarm();
  if (!pace_) co_return bytes;
  waited_ += std::chrono::steady_clock::now() - begin;
  const std::chrono::duration<double> worth(static_cast<double>(bytes) /
                                            static_cast<double>(pace_->bytes_per_second));
  waited_ = std::max(std::chrono::duration<double>(0), waited_ - worth);
  co_return bytes;
}

Task<void> ConnectionBody::fill() {
  if (parser_.expects_continue() && !continued_) co_await send_continue();
  const size_t room = kMaxReadBuffer - buffer_.size();
  // Only an endless chunk header can need more input while the buffer is full.
  if (room == 0) throw Error(ErrorCode::invalid, "the body has a chunk header without an end");
  const auto into = buffer_.prepare(room);
  auto receiving = receive(into);
  const size_t bytes = co_await std::move(receiving);
  buffer_.commit(bytes);
  if (bytes > 0) co_return;
  // A handler that refuses the rest cancels its own read: the client is still there and waits.
  const auto state = co_await asio::this_coro::cancellation_state;
  broken_ = state.cancelled() == asio::cancellation_type::none;
  throw boost::system::system_error(asio::error::eof);
}

Task<size_t> ConnectionBody::read(std::span<char> into) {
  if (into.empty()) co_return 0;
  while (!parser_.is_done()) {
    if (buffer_.size() > 0) {
      buffer_.consume(parser_.parse_body(unread(buffer_), into));
      if (parser_.body_bytes() > 0) co_return parser_.body_bytes();
      if (parser_.is_done()) break;
    }
    co_await fill();
  }
  co_return 0;
}

bool ConnectionBody::skip_received() {
  std::array<char, 4096> dropped;
  while (!parser_.is_done() && buffer_.size() > 0) {
    const size_t used = parser_.parse_body(unread(buffer_), dropped);
    buffer_.consume(used);
    if (used == 0 && parser_.body_bytes() == 0) break;
  }
  return parser_.is_done();
}

}  // namespace sandgate::http
