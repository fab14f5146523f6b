#include "local/egress/stream.hpp"

namespace sandgate::egress {
namespace {

constexpr auto kResult = asio::as_tuple(asio::use_awaitable);

std::optional<size_t> count_of(boost::system::error_code error, size_t bytes) {
  if (error == asio::error::eof) return 0;
  return error ? std::nullopt : std::optional(bytes);
}

}  // namespace

Task<std::optional<size_t>> PlainStream::read(std::span<char> into) {
  auto [error, bytes] =
      co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), kResult);
  co_return count_of(error, bytes);
}

Task<bool> PlainStream::write(std::string_view bytes) {
  auto [error, written] =
      co_await asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()), kResult);
  co_return !error;
}

Task<void> PlainStream::finish() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(false, 0), ignored);
  socket_.shutdown(Socket::shutdown_send, ignored);
  co_return;
}

void PlainStream::reset_on_close() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
}

Task<bool> TlsStream::accept() {
  auto [error] = co_await tls_.async_handshake(asio::ssl::stream_base::server, kResult);
  co_return !error;
}

Task<bool> TlsStream::connect(std::string host) {
  if (SSL_set_tlsext_host_name(tls_.native_handle(), host.c_str()) != 1) co_return false;
  tls_.set_verify_mode(asio::ssl::verify_peer);
  tls_.set_verify_callback(asio::ssl::host_name_verification(host));
  auto [error] = co_await tls_.async_handshake(asio::ssl::stream_base::client, kResult);
  co_return !error;
}

Task<std::optional<size_t>> TlsStream::read(std::span<char> into) {
  auto [error, bytes] =
      co_await tls_.async_read_some(asio::buffer(into.data(), into.size()), kResult);
  co_return count_of(error, bytes);
}

Task<bool> TlsStream::write(std::string_view bytes) {
  auto [error, written] =
      co_await asio::async_write(tls_, asio::buffer(bytes.data(), bytes.size()), kResult);
  co_return !error;
}

// Sends close_notify without waiting for the peer's.
Task<void> TlsStream::finish() {
  SSL_set_shutdown(tls_.native_handle(), SSL_RECEIVED_SHUTDOWN);
  co_await tls_.async_shutdown(kResult);
}

}  // namespace sandgate::egress
