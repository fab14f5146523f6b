#include "providers/transport/web_socket.hpp"

#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/url/parse.hpp>

#include "gateway/core/byte_stream.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/tls_key_exchange.hpp"
#include "providers/transport/rest_api.hpp"
#include "providers/transport/upstream_socket.hpp"

namespace sandgate {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using Stream = websocket::stream<ByteStream, false>;

struct Connection {
  explicit Connection(ByteStream::Socket connected) : socket(std::move(connected)) {}
  ByteStream::Socket socket;
  std::optional<ByteStream::TlsStream> tls;  // empty: plain TCP
};

struct Place {
  bool secure = false;
  std::string host, port, target, authority;
};

Place place_of(const std::string& text) {
  const auto url = boost::urls::parse_uri(text);
  if (!url || url->host().empty())
    throw Error(ErrorCode::unavailable, "the backend has no such URL");
  Place place;
  place.secure = url->scheme() == "https" || url->scheme() == "wss";
  place.host = url->host_address();
  place.port = url->has_port() ? std::string(url->port()) : place.secure ? "443" : "80";
  place.target = std::string(url->encoded_target());
  place.authority = std::string(url->encoded_host_and_port());
  return place;
}

asio::ssl::context tls_of(const TlsIdentity& identity) {
  asio::ssl::context made(asio::ssl::context::tls_client);
  use_short_key_exchanges(made.native_handle());
  if (identity.authorities.empty())
    made.set_default_verify_paths();
  else
    made.add_certificate_authority(asio::buffer(identity.authorities));
  if (!identity.certificate.empty()) {
    made.use_certificate_chain(asio::buffer(identity.certificate));
    made.use_private_key(asio::buffer(identity.key.reveal()), asio::ssl::context::pem);
  }
  made.set_verify_mode(asio::ssl::verify_peer);
  return made;
}

asio::ssl::context& client_tls() {
  static asio::ssl::context context = tls_of({});
  return context;
}

Error broken_off(const boost::system::system_error& failure) {
  return Error(ErrorCode::unavailable,
               "the backend's connection broke: " + failure.code().message());
}

class BeastSocket : public WebSocket {
 public:
  explicit BeastSocket(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)),
        stream_(ByteStream(connection_->socket, connection_->tls ? &*connection_->tls : nullptr)) {}

  // Throws as open_web_socket does.
  Task<void> upgrade(std::string provider, Place place, WebSocketCall call);

  Task<std::optional<Message>> read() override {
    beast::flat_buffer buffer;
    limit_silence(silence_);
    try {
      co_await stream_.async_read(buffer, asio::use_awaitable);
    } catch (const boost::system::system_error& failure) {
      if (failure.code() == websocket::error::closed) co_return std::nullopt;
      throw broken_off(failure);
    }
    // The answer to a ping is seen by a read only.
    limit_silence(websocket::stream_base::none());
    co_return Message{stream_.got_text(), beast::buffers_to_string(buffer.data())};
  }

  Task<void> write(Message message) override {
    stream_.text(message.text);
    try {
      const auto bytes = asio::buffer(message.bytes);
      co_await stream_.async_write(bytes, asio::use_awaitable);
    } catch (const boost::system::system_error& failure) {
      throw broken_off(failure);
    }
  }

  const std::string& protocol() const override { return protocol_; }

  Task<void> close() override {
    try {
      co_await stream_.async_close(websocket::close_code::normal, asio::use_awaitable);
    } catch (const boost::system::system_error& failure) {
      throw broken_off(failure);
    }
  }

 private:
  void limit_silence(std::chrono::steady_clock::duration limit) {
    auto timeout = websocket::stream_base::timeout::suggested(beast::role_type::client);
    timeout.idle_timeout = limit;
    timeout.keep_alive_pings = true;
    stream_.set_option(timeout);
  }

  std::unique_ptr<Connection> connection_;
  Stream stream_;
  std::chrono::milliseconds silence_{0};
  std::string protocol_;
};

Task<void> BeastSocket::upgrade(std::string provider, Place place, WebSocketCall call) {
  silence_ = call.silence;
  limit_silence(websocket::stream_base::none());
  stream_.read_message_max(call.max_message);
  // Some servers treat every frame as a message.
  stream_.auto_fragment(false);
  auto fields = call.headers;
  if (!call.protocols.empty()) fields.emplace_back("Sec-WebSocket-Protocol", call.protocols);
  stream_.set_option(websocket::stream_base::decorator([fields](websocket::request_type& request) {
    for (const auto& [name, value] : fields) request.set(name, value);
  }));
  websocket::response_type answer;
  boost::system::error_code refused;
  co_await stream_.async_handshake(answer, place.authority, place.target,
                                   asio::redirect_error(asio::use_awaitable, refused));
  if (refused == websocket::error::upgrade_declined) {
    HttpReply reply{static_cast<int>(answer.result_int()), {}, std::move(answer.body()), {}};
    for (const auto& field : answer)
      reply.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    throw call.read_error ? call.read_error(provider, reply)
                          : error_of_status(provider, reply.status, reply.headers);
  }
  if (refused) throw boost::system::system_error(refused);
  protocol_ = answer[beast::http::field::sec_websocket_protocol];
}

Task<void> secure(Connection& connection, const Place& place, const TlsIdentity* identity) {
  // The stream keeps its own reference to what it needs of the context.
  std::optional<asio::ssl::context> own;
  if (identity) own.emplace(tls_of(*identity));
  auto& tls = connection.tls.emplace(connection.socket, own ? *own : client_tls());
  if (!SSL_set_tlsext_host_name(tls.native_handle(), place.host.c_str()))
    throw Error(ErrorCode::unavailable, "the backend has no such name");
  tls.set_verify_callback(asio::ssl::host_name_verification(place.host));
  co_await tls.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
}

Task<std::unique_ptr<WebSocket>> dial(std::string provider, WebSocketCall call) {
  const Place place = place_of(call.url);
  check_fields(call.headers);
  auto connecting = connect_upstream(place.host, place.port, call.allow_private);
  auto connection = std::make_unique<Connection>(co_await std::move(connecting));
  try {
    if (place.secure) co_await secure(*connection, place, call.tls.get());
    auto socket = std::make_unique<BeastSocket>(std::move(connection));
    co_await socket->upgrade(std::move(provider), place, std::move(call));
    co_return socket;
  } catch (const boost::system::system_error& failure) {
    throw broken_off(failure);
  }
}

}  // namespace

Task<std::unique_ptr<WebSocket>> open_web_socket(std::string provider, WebSocketCall call) {
  const auto deadline = call.deadline;
  auto outcome = co_await attempt_within(deadline, dial(provider, std::move(call)));
  if (auto* error = std::get_if<Error>(&outcome)) throw attributed_to(*error, provider);
  co_return std::move(std::get<0>(outcome));
}

}  // namespace sandgate
