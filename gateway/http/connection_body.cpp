#include "gateway/http/connection_body.hpp"

namespace sandgate::http {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

std::optional<uint64_t> ConnectionBody::length() const {
  const auto declared = parser_.content_length();
  return declared ? std::optional<uint64_t>(*declared) : std::nullopt;
}

Task<void> ConnectionBody::invite() {
  if (!parser_.expects_continue() || continued_) co_return;
  continued_ = true;
  const std::array<asio::const_buffer, 1> buffers{asio::buffer(kContinue.data(), kContinue.size())};
  co_await transport_.write(buffers, limits_.write_timeout);
}

Task<void> ConnectionBody::fill() {
  if (parser_.expects_continue() && !continued_) co_await invite();
  const size_t room = kMaxReadBuffer - buffer_.size();
  // Only a chunk's header can ask for more while the buffer is full.
  if (room == 0) throw Error(ErrorCode::invalid, "the body has a chunk header without an end");
  const auto into = buffer_.prepare(room);
  transport_.deadline.arm(limits_.body_timeout);
  const size_t bytes = co_await transport_.read_some(into);
  transport_.deadline.disarm();
  buffer_.commit(bytes);
  if (bytes > 0) co_return;
  broken_ = true;
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
