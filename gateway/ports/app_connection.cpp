#include "gateway/ports/app_connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace sandgate::ports {
namespace {

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr ssize_t kLater = -1, kBroken = -2;

Error overdue() {
  return Error(ErrorCode::timeout, "the program in the sandbox did not answer in time");
}

bool is_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

AppConnection::AppConnection(asio::any_io_executor executor, std::string key,
                             PortConnection connection)
    : executor_(std::move(executor)),
      key_(std::move(key)),
      path_prefix_(std::move(connection.path_prefix)),
      headers_(std::move(connection.headers)),
      tls_host_(std::move(connection.tls_host)),
      socket_(executor_, asio::generic::stream_protocol(AF_UNSPEC, 0),
              connection.socket.release()) {}

Task<void> AppConnection::secure(asio::ssl::context& context) {
  if (tls_host_.empty()) co_return;
  tls_.emplace(socket_, context);
  ::SSL_set_tlsext_host_name(tls_->native_handle(), tls_host_.c_str());
  tls_->set_verify_mode(asio::ssl::verify_peer);
  tls_->set_verify_callback(asio::ssl::host_name_verification(tls_host_));
  const auto [failure] = co_await tls_->async_handshake(asio::ssl::stream_base::client, kAsTuple);
  if (failure)
    throw Error(ErrorCode::unavailable, "no TLS with the backend's gateway: " + failure.message());
}

AppConnection::~AppConnection() {
  // A lingering close would block this thread.
  const ::linger at_once{0, 0};
  if (socket_.is_open())
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

Task<void> AppConnection::wait_to_write() {
  const auto [failure] = co_await socket_.async_wait(Socket::wait_write, kAsTuple);
  if (cancelled_) throw overdue();
  if (failure) throw boost::system::system_error(failure);
}

Task<size_t> AppConnection::read() {
  if (cancelled_) throw overdue();
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == kBufferBytes && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto room = asio::buffer(buffer_.get() + end_, kBufferBytes - end_);
  boost::system::error_code failure;
  size_t got = 0;
  // Two statements, because g++ 12 awaits both branches of a conditional expression.
  if (tls_)
    std::tie(failure, got) = co_await tls_->async_read_some(room, kAsTuple);
  else
    std::tie(failure, got) = co_await socket_.async_receive(room, MSG_DONTWAIT, kAsTuple);
  if (cancelled_) throw overdue();
  if (failure == asio::error::operation_aborted) throw boost::system::system_error(failure);
  // Many programs end TLS by closing the connection alone.
  broken_ = failure && failure != asio::error::eof && failure != asio::ssl::error::stream_truncated;
  refused_ = refused_ || failure == asio::error::connection_refused;
  end_ += failure ? 0 : got;
  co_return failure ? 0 : got;
}

ssize_t AppConnection::send_some(const Buffers& buffers) {
  std::array<iovec, 4> parts{};
  for (size_t i = 0; i < buffers.size(); ++i)
    parts[i] = {const_cast<void*>(buffers[i].data()), buffers[i].size()};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t put = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (put >= 0) return put;
  // Also while the connection is being made.
  if (is_later()) return kLater;
  refused_ = errno == ECONNREFUSED;
  return kBroken;
}

Task<bool> AppConnection::write(std::span<const asio::const_buffer> buffers) {
  if (cancelled_) throw overdue();
  Buffers rest{};
  std::copy_n(buffers.begin(), std::min(buffers.size(), rest.size()), rest.begin());
  size_t left = asio::buffer_size(rest);
  if (tls_) {
    const auto [failure, put] = co_await asio::async_write(*tls_, rest, kAsTuple);
    if (cancelled_) throw overdue();
    if (failure == asio::error::operation_aborted) throw boost::system::system_error(failure);
    co_return !failure;
  }
  while (left > 0) {
    const ssize_t put = send_some(rest);
    if (put == kBroken) co_return false;
    if (put == kLater) {
      co_await wait_to_write();
      continue;
    }
    left -= static_cast<size_t>(put);
    auto taken = static_cast<size_t>(put);
    for (auto& buffer : rest) {
      const size_t part = std::min(taken, buffer.size());
      buffer += part;
      taken -= part;
    }
  }
  co_return true;
}

void AppConnection::end_writing() { ::shutdown(socket_.native_handle(), SHUT_WR); }

void AppConnection::cancel() {
  cancelled_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

bool AppConnection::stale() const {
  if (cancelled_) return true;
  char unasked = 0;
  // Uses the descriptor only: another executor's thread may call this on an idle connection.
  const int descriptor = const_cast<AppConnection*>(this)->socket_.native_handle();
  return ::recv(descriptor, &unasked, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || !is_later();
}

}  // namespace sandgate::ports
