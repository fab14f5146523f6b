#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>

#include <boost/asio/ssl.hpp>

#include "gateway/core/async.hpp"
#include "gateway/http/deadline.hpp"

namespace sandgate::http {

// One accepted socket, plain or under TLS. One reader and one writer at a time, on its own loop.
class Transport {
 public:
  using Socket = asio::ip::tcp::socket;
  using TlsStream = asio::ssl::stream<Socket&>;

  // `tls` null: plain.
  Transport(Socket socket, std::shared_ptr<asio::ssl::context> tls);

  // Nothing to do when plain. Throws boost::system::system_error.
  Task<void> handshake();
  // The number of bytes read; 0 when the peer ended or broke the connection.
  Task<size_t> read_some(asio::mutable_buffer into);
  // The same of the bytes on the wire, under TLS as they are: for what is dropped unread.
  Task<size_t> drop_some(asio::mutable_buffer into);
  // Returns when the kernel took everything. Throws boost::system::system_error when the peer is
  // gone or took nothing for `limit`.
  Task<void> write(std::span<const asio::const_buffer> buffers, std::chrono::milliseconds limit);

  // Tells the peer that no more comes, and still reads.
  void shutdown_send();
  void close();
  // Closes so that the peer sees a reset, not an end.
  void abort();
  // Whether the peer has ended its side, also behind bytes nobody has read yet.
  bool peer_closed();

  Socket& socket() { return socket_; }
  TlsStream* tls() { return tls_ ? &*tls_ : nullptr; }
  Deadline deadline;  // of the read in progress, or of several steps together
  Deadline writing;  // of the write in progress: a relay reads and writes at once

 private:
  Task<void> yield_after(size_t bytes);

  Socket socket_;
  std::shared_ptr<asio::ssl::context> context_;
  std::optional<TlsStream> tls_;
  size_t unyielded_ = 0;  // bytes written since the loop last ran something else
};

}  // namespace sandgate::http
