#include "gateway/http/websocket_session.hpp"

#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include "gateway/http/problem.hpp"

namespace sandgate::http {
namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr size_t kMaxCloseReason = 123;  // RFC 6455, 5.5.1

// `Next`: the plain socket or the TLS stream over it.
template <class Next>
class Session final : public WebSocket {
 public:
  Session(Next& next, const Limits& limits) : stream_(next) {
    websocket::stream_base::timeout timeouts{limits.header_timeout, limits.websocket_idle_timeout,
                                             true};
    if (limits.websocket_idle_timeout.count() == 0)
      timeouts.idle_timeout = websocket::stream_base::none();
    stream_.set_option(timeouts);
    stream_.read_message_max(limits.websocket_message_bytes);
    stream_.auto_fragment(false);
  }

  Task<void> accept(const Request& request, const Response& response, const std::string& protocol) {
    beast::http::request<beast::http::empty_body> upgrade(beast::http::verb::get, request.target,
                                                          11);
    for (const auto& [name, value] : request.headers.fields()) upgrade.insert(name, value);
    stream_.set_option(websocket::stream_base::decorator([&](websocket::response_type& answer) {
      answer.set(beast::http::field::server, "sandgate");
      answer.set("X-Request-Id", request.id);
      if (!protocol.empty()) answer.set(beast::http::field::sec_websocket_protocol, protocol);
      for (const auto& [name, value] : response.headers) answer.set(name, value);
    }));
    co_await stream_.async_accept(upgrade, asio::use_awaitable);
  }

  Task<std::optional<WebSocketMessage>> read() override {
    const auto [failure, bytes] = co_await stream_.async_read(buffer_, kAsTuple);
    if (failure) co_return std::nullopt;
    WebSocketMessage message{stream_.got_text(), beast::buffers_to_string(buffer_.data())};
    buffer_.consume(bytes);
    co_return message;
  }

  Task<void> write(WebSocketMessage message) override {
    stream_.text(message.text);
    co_await stream_.async_write(asio::buffer(message.bytes), asio::use_awaitable);
  }

  Task<void> close(uint16_t code, std::string reason) override {
    if (!stream_.is_open()) co_return;
    if (reason.size() > kMaxCloseReason) reason.resize(kMaxCloseReason);
    const websocket::close_reason why(static_cast<websocket::close_code>(code), reason);
    co_await stream_.async_close(why, kAsTuple);
  }

 private:
  websocket::stream<Next&, false> stream_;
  beast::flat_buffer buffer_;
};

template <class Next>
Task<void> serve(Next& next, const Request& request, Response& response, const Limits& limits) {
  auto& body = std::get<UpgradeBody>(response.body);
  Session<Next> session(next, limits);
  co_await session.accept(request, response, body.protocol);
  std::exception_ptr failure;
  try {
    co_await body.serve(session);
  } catch (const boost::system::system_error&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
  }
  uint16_t code = websocket::close_code::normal;
  std::string reason;
  if (failure) {
    code = websocket::close_code::internal_error;
    reason = to_string(as_error(failure, request.id).code);
  }
  co_await session.close(code, reason);
}

}  // namespace

Task<void> serve_websocket(Transport& transport, const Request& request, Response& response,
                           const Limits& limits) {
  if (auto* tls = transport.tls())
    co_await serve(*tls, request, response, limits);
  else
    co_await serve(transport.socket(), request, response, limits);
}

}  // namespace sandgate::http
