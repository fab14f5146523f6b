#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>

#include <boost/asio/ssl.hpp>

#include "gateway/core/async.hpp"
#include "gateway/http/deadline.hpp"

namespace sandgate::http {

// An accepted socket, plain or under TLS. One reader and one writer at a time, on its own loop.
class Transport {
 public:
  using Socket = asio::ip::tcp::socket;
  using TlsStream = asio::ssl::stream<Socket&>;

  // A null `tls` means a plain connection.
  Transport(Socket socket, std::shared_ptr<asio::ssl::context> tls);

  // Does nothing on a plain connection. Throws boost::system::system_error.
  Task<void> handshake();
  // Returns the number of bytes read; 0 if the peer closed or broke the connection.
  Task<size_t> read_some(asio::mutable_buffer into);
  // Likewise for raw socket bytes, undecrypted under TLS, to drain a connection.
  Task<size_t> drop_some(asio::mutable_buffer into);
  // Returns once the kernel took all bytes of at most four buffers. Throws
  // boost::system::system_error if the peer is gone or accepts nothing for `limit`.
  Task<void> write(std::span<const asio::const_buffer> buffers, std::chrono::milliseconds limit);

  // Half-closes the socket; reading is still possible.
  void shutdown_send();
  void close();
  // Closes with a reset, so that the peer cannot take it for a normal end.
  void abort();
  // Whether the peer closed its side, even if unread bytes precede its end.
  bool peer_closed();

  Socket& socket() { return socket_; }
  TlsStream* tls() { return tls_ ? &*tls_ : nullptr; }
  Deadline deadline;  // of the current read, or of several steps together
  Deadline writing;  // of the current write; separate because a relay reads and writes at once

 private:
  Task<size_t> read_secure(asio::mutable_buffer into);
  Task<void> yield_after(size_t bytes);

  Socket socket_;
  std::shared_ptr<asio::ssl::context> context_;
  std::optional<TlsStream> tls_;
  size_t unyielded_ = 0;  // bytes written since the last yield to the loop
};

}  // namespace sandgate::http
