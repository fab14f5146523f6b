#pragma once
#include <array>
#include <optional>
#include <vector>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/role.hpp>

#include "gateway/core/async.hpp"

namespace sandgate {

// A TCP connection, plain or under TLS, that models Asio's AsyncReadStream and AsyncWriteStream.
// Being one type, it lets expensive templates such as Beast's WebSocket be instantiated once for
// both kinds and for all completion handlers. One read and one write at a time. The socket and the
// TLS stream must outlive it.
class ByteStream {
 public:
  using Socket = asio::ip::tcp::socket;
  using TlsStream = asio::ssl::stream<Socket&>;
  using executor_type = Socket::executor_type;
  using Transferred = asio::any_completion_handler<void(boost::system::error_code, size_t)>;
  using Ended = asio::any_completion_handler<void(boost::system::error_code)>;
  // More buffers than a WebSocket frame consists of; a write takes at most this many of them.
  static constexpr size_t kMaxPieces = 8;
  using Pieces = std::array<asio::const_buffer, kMaxPieces>;

  // A null `tls` means a plain connection.
  ByteStream(Socket& socket, TlsStream* tls) : socket_(&socket), tls_(tls) {}

  executor_type get_executor() { return socket_->get_executor(); }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, asio::mutable_buffer into) { read_some(into, std::move(handler)); },
        token, first_of(buffers));
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, const Pieces& pieces) { write_some(pieces, std::move(handler)); },
        token, pieces_of(buffers));
  }

  void close();
  // Performs the closing handshake under TLS and ends the connection.
  void shut_down(boost::beast::role_type role, Ended done);

 private:
  template <class Buffers>
  static asio::mutable_buffer first_of(const Buffers& buffers) {
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto at = asio::buffer_sequence_begin(buffers); at != end; ++at)
      if (const asio::mutable_buffer buffer = *at; buffer.size() > 0) return buffer;
    return {};
  }

  template <class Buffers>
  static Pieces pieces_of(const Buffers& buffers) {
    Pieces pieces;
    size_t count = 0;
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto at = asio::buffer_sequence_begin(buffers); at != end && count < kMaxPieces; ++at)
      if (const asio::const_buffer buffer = *at; buffer.size() > 0) pieces[count++] = buffer;
    return pieces;
  }

  void read_some(asio::mutable_buffer into, Transferred done);
  void write_some(const Pieces& pieces, Transferred done);

  Socket* socket_;
  TlsStream* tls_;
  std::vector<char> record_;  // gathers the pieces of one TLS record
};

// Customization points that Beast's WebSocket requires of a user-defined stream.
void beast_close_socket(ByteStream& stream);

template <class Handler>
void async_teardown(boost::beast::role_type role, ByteStream& stream, Handler&& done) {
  stream.shut_down(role, std::forward<Handler>(done));
}

}  // namespace sandgate
