#pragma once
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/ssl.hpp>

#include "gateway/core/async.hpp"

namespace sandgate::egress {

using Socket = asio::ip::tcp::socket;

// Bytes to and from one side of a connection, in clear or through TLS. One may read while another
// writes. Failures are values: whoever speaks with hostile ends expects them.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Task<size_t> read(std::span<char> into) = 0;  // 0: the end, orderly or not
  virtual Task<bool> write(std::string_view bytes) = 0;  // all of them; false: broken
  virtual Task<void> finish() = 0;  // nothing more will be written
};

class PlainStream : public Stream {
 public:
  explicit PlainStream(Socket& socket) : socket_(socket) {}
  Task<size_t> read(std::span<char> into) override;
  Task<bool> write(std::string_view bytes) override;
  Task<void> finish() override;

 private:
  Socket& socket_;
};

class TlsStream : public Stream {
 public:
  TlsStream(Socket& socket, asio::ssl::context& context) : tls_(socket, context) {}
  // Shakes hands with a client; false when that failed.
  Task<bool> accept();
  // Shakes hands with a server that must prove to be `host`.
  Task<bool> connect(std::string host);
  Task<size_t> read(std::span<char> into) override;
  Task<bool> write(std::string_view bytes) override;
  Task<void> finish() override;

 private:
  asio::ssl::stream<Socket&> tls_;
};

}  // namespace sandgate::egress
