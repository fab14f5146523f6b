#include "gateway/http/transport.hpp"

#include <poll.h>

#include <algorithm>
#include <cassert>

namespace sandgate::http {
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
// Yields after this many bytes, so that a fast reader does not monopolize the loop.
constexpr size_t kYieldBytes = 1 << 20;
constexpr size_t kMaxBuffers = 4;

using Buffers = std::array<asio::const_buffer, kMaxBuffers>;

void consume(Buffers& buffers, size_t bytes) {
  for (auto& buffer : buffers) {
    const size_t taken = std::min(bytes, buffer.size());
    buffer += taken;
    bytes -= taken;
  }
}

}  // namespace

Transport::Transport(Socket socket, std::shared_ptr<asio::ssl::context> tls)
    : socket_(std::move(socket)), context_(std::move(tls)) {
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
  if (context_) tls_.emplace(socket_, *context_);
}

Task<void> Transport::handshake() {
  if (tls_) co_await tls_->async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
}

Task<size_t> Transport::read_some(asio::mutable_buffer into) {
  if (!tls_) return drop_some(into);
  return read_secure(into);
}

Task<size_t> Transport::read_secure(asio::mutable_buffer into) {
  const auto [failure, bytes] = co_await tls_->async_read_some(into, kTuple);
  co_return failure ? 0 : bytes;
}

Task<size_t> Transport::drop_some(asio::mutable_buffer into) {
  const auto [failure, bytes] = co_await socket_.async_read_some(into, kTuple);
  co_return failure ? 0 : bytes;
}

Task<void> Transport::yield_after(size_t bytes) {
  unyielded_ += bytes;
  if (unyielded_ < kYieldBytes) co_return;
  unyielded_ = 0;
  co_await asio::post(asio::use_awaitable);
}

Task<void> Transport::write(std::span<const asio::const_buffer> buffers,
                            std::chrono::milliseconds limit) {
  assert(buffers.size() <= kMaxBuffers);
  Buffers rest{};
  std::ranges::copy(buffers, rest.begin());
  size_t left = asio::buffer_size(rest);
  const size_t total = left;
  while (left > 0) {
    boost::system::error_code failure;
    size_t bytes = 0;
    // The kernel usually takes a whole answer at once; then no wait is needed.
    if (!tls_) bytes = socket_.write_some(rest, failure);
    const bool waits = tls_ || failure == asio::error::would_block;
    if (waits) writing.arm(limit);
    // Two statements, because g++ 12 awaits both branches of a conditional expression.
    if (tls_)
      std::tie(failure, bytes) = co_await tls_->async_write_some(rest, kTuple);
    else if (waits)
      std::tie(failure, bytes) = co_await socket_.async_write_some(rest, kTuple);
    writing.disarm();
    if (failure) throw boost::system::system_error(failure);
    consume(rest, bytes);
    left -= bytes;
  }
  if (unyielded_ + total >= kYieldBytes)
    co_await yield_after(total);
  else
    unyielded_ += total;
}

void Transport::shutdown_send() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Transport::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Transport::abort() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

bool Transport::peer_closed() {
  if (!socket_.is_open()) return false;
  pollfd asked{socket_.native_handle(), POLLRDHUP, 0};
  return poll(&asked, 1, 0) == 1 && (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace sandgate::http
