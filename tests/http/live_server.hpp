#pragma once
#include <string>

#include <boost/asio/ssl.hpp>

#include "gateway/http/dispatch.hpp"
#include "gateway/http/server.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {

// "Bearer admin" is an admin of kTenant, and so on for every role, "Bearer stranger" one who names
// a tenant that there is not; anything else is refused.
class WordAuthenticator : public http::Authenticator {
 public:
  static inline const TenantId kTenant{"tnaaaaaaaaaaaaaaaaaaaaaaaa"};
  Task<http::Caller> authenticate(const http::Request& request) override;
};

// A server on a free port with its routes, on threads of its own.
class LiveServer {
 public:
  explicit LiveServer(http::Routes routes, http::ServerOptions options = {},
                      http::Admission* admission = nullptr,
                      http::IdempotencyStore* idempotency = nullptr);
  ~LiveServer();

  uint16_t port() const { return server.port(); }

  http::Routes routes;
  WordAuthenticator authenticator;
  http::HttpMetrics metrics;
  http::Dispatcher dispatcher;
  http::IoThreads io;
  http::Server server;
};

// What a raw socket got back.
struct Reply {
  int status = 0;
  http::Headers headers;
  std::string body;
};

// A blocking client that sends bytes exactly as given.
class RawClient {
 public:
  explicit RawClient(uint16_t port);
  void send(std::string_view bytes);
  // One answer; a HEAD's has no body. Throws std::runtime_error when the connection ends before.
  Reply receive(bool head = false);
  Reply ask(std::string_view bytes, bool head = false) {
    send(bytes);
    return receive(head);
  }
  // Whether the server ends the connection within eight seconds, with nothing more to
  // say.
  bool ended();
  void shutdown_send() { socket_.shutdown(asio::ip::tcp::socket::shutdown_send); }
  void close() { socket_.close(); }
  void reset();  // closes with RST
  asio::ip::tcp::socket& socket() { return socket_; }

 private:
  void fill();
  std::string take(size_t bytes);
  std::string take_line();

  asio::io_context loop_;
  asio::ip::tcp::socket socket_;
  std::string buffer_;
};

// "GET path" with a key that may do everything, and further header lines.
std::string get(std::string_view path, std::string_view more = "");
std::string post(std::string_view path, std::string_view body, std::string_view more = "");

// A handler that answers `text`.
http::Handler says(std::string text);

}  // namespace sandgate::test
