#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/ssl.hpp>

#include "gateway/core/async.hpp"

namespace sandgate::egress {

using Socket = asio::ip::tcp::socket;

// A byte stream to one side of a connection, plain or over TLS. One coroutine may read while
// another writes. Failures are returned, not thrown, because they are normal with untrusted peers.
class Stream {
 public:
  virtual ~Stream() = default;
  // 0: the peer ended its sending direction; empty: failure, such as an end that TLS did not tell.
  virtual Task<std::optional<size_t>> read(std::span<char> into) = 0;
  virtual Task<bool> write(std::string_view bytes) = 0;  // writes all; false on failure
  virtual Task<void> finish() = 0;  // ends the sending direction
  // Whether a peer that ends its sending direction has left, and does not wait for anything.
  virtual bool ends_as_a_whole() const = 0;
  // From now on a peer can tell from finish() that the socket is closed without it.
  virtual void reset_on_close() = 0;
};

class PlainStream : public Stream {
 public:
  explicit PlainStream(Socket& socket) : socket_(socket) {}
  Task<std::optional<size_t>> read(std::span<char> into) override;
  Task<bool> write(std::string_view bytes) override;
  Task<void> finish() override;
  bool ends_as_a_whole() const override { return false; }
  void reset_on_close() override;  // by a reset

 private:
  Socket& socket_;
};

class TlsStream : public Stream {
 public:
  TlsStream(Socket& socket, asio::ssl::context& context) : tls_(socket, context) {}
  // Performs the handshake with a client; false on failure.
  Task<bool> accept();
  // Performs the handshake with a server and verifies its certificate for `host`; false on failure.
  Task<bool> connect(std::string host);
  Task<std::optional<size_t>> read(std::span<char> into) override;
  Task<bool> write(std::string_view bytes) override;
  Task<void> finish() override;
  bool ends_as_a_whole() const override { return true; }
  void reset_on_close() override {}  // by the lack of close_notify

 private:
  asio::ssl::stream<Socket&> tls_;
};

}  // namespace sandgate::egress
