#include "providers/web_socket.hpp"

#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/url/parse.hpp>

#include "gateway/core/settle.hpp"
#include "providers/address_rules.hpp"
#include "providers/rest_api.hpp"

namespace sandgate {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using Plain = websocket::stream<beast::tcp_stream>;
using Secure = websocket::stream<beast::ssl_stream<beast::tcp_stream>>;

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

template <class Stream>
class BeastSocket : public WebSocket {
 public:
  BeastSocket(std::unique_ptr<Stream> stream, std::string protocol)
      : stream_(std::move(stream)), protocol_(std::move(protocol)) {}

  Task<std::optional<Message>> read() override {
    beast::flat_buffer buffer;
    try {
      co_await stream_->async_read(buffer, asio::use_awaitable);
    } catch (const boost::system::system_error& failure) {
      if (failure.code() == websocket::error::closed) co_return std::nullopt;
      throw broken_off(failure);
    }
    co_return Message{stream_->got_text(), beast::buffers_to_string(buffer.data())};
  }

  Task<void> write(Message message) override {
    stream_->text(message.text);
    try {
      const auto bytes = asio::buffer(message.bytes);
      co_await stream_->async_write(bytes, asio::use_awaitable);
    } catch (const boost::system::system_error& failure) {
      throw broken_off(failure);
    }
  }

  const std::string& protocol() const override { return protocol_; }

  Task<void> close() override {
    try {
      co_await stream_->async_close(websocket::close_code::normal, asio::use_awaitable);
    } catch (const boost::system::system_error& failure) {
      throw broken_off(failure);
    }
  }

 private:
  std::unique_ptr<Stream> stream_;
  const std::string protocol_;
};

Task<void> connect_to(beast::tcp_stream& stream, const Place& place, bool allow_private) {
  asio::ip::tcp::resolver resolver(stream.get_executor());
  const auto found = co_await resolver.async_resolve(place.host, place.port, asio::use_awaitable);
  std::vector<asio::ip::tcp::endpoint> endpoints;
  for (const auto& entry : found)
    if (allow_private || is_public_address(*entry.endpoint().data()))
      endpoints.push_back(entry.endpoint());
  if (endpoints.empty())
    throw Error(ErrorCode::unavailable, "the backend's address is not a public one");
  co_await stream.async_connect(endpoints, asio::use_awaitable);
  stream.socket().set_option(asio::ip::tcp::no_delay(true));
}

template <class Stream>
Task<std::unique_ptr<WebSocket>> upgrade(std::string provider, std::unique_ptr<Stream> stream,
                                         Place place, WebSocketCall call) {
  auto patience = websocket::stream_base::timeout::suggested(beast::role_type::client);
  patience.idle_timeout = std::chrono::seconds(60);
  patience.keep_alive_pings = true;
  stream->set_option(patience);
  stream->read_message_max(call.max_message);
  // Some servers take every frame for a message.
  stream->auto_fragment(false);
  auto fields = call.headers;
  if (!call.protocols.empty()) fields.emplace_back("Sec-WebSocket-Protocol", call.protocols);
  stream->set_option(websocket::stream_base::decorator([fields](websocket::request_type& request) {
    for (const auto& [name, value] : fields) request.set(name, value);
  }));
  websocket::response_type answer;
  boost::system::error_code refused;
  co_await stream->async_handshake(answer, place.authority, place.target,
                                   asio::redirect_error(asio::use_awaitable, refused));
  if (refused == websocket::error::upgrade_declined) {
    HttpFields headers;
    for (const auto& field : answer)
      headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    throw error_of_status(provider, static_cast<int>(answer.result_int()), headers);
  }
  if (refused) throw boost::system::system_error(refused);
  const std::string protocol(answer[beast::http::field::sec_websocket_protocol]);
  co_return std::make_unique<BeastSocket<Stream>>(std::move(stream), protocol);
}

Task<std::unique_ptr<WebSocket>> dial(std::string provider, WebSocketCall call) {
  const Place place = place_of(call.url);
  const auto executor = co_await asio::this_coro::executor;
  if (!place.secure) {
    auto stream = std::make_unique<Plain>(executor);
    co_await connect_to(beast::get_lowest_layer(*stream), place, call.allow_private);
    co_return co_await upgrade(std::move(provider), std::move(stream), place, std::move(call));
  }
  // A stream keeps what it needs of its context.
  std::optional<asio::ssl::context> own;
  if (call.tls) own.emplace(tls_of(*call.tls));
  auto stream = std::make_unique<Secure>(executor, own ? *own : client_tls());
  co_await connect_to(beast::get_lowest_layer(*stream), place, call.allow_private);
  auto& tls = stream->next_layer();
  if (!SSL_set_tlsext_host_name(tls.native_handle(), place.host.c_str()))
    throw Error(ErrorCode::unavailable, "the backend has no such name");
  tls.set_verify_callback(asio::ssl::host_name_verification(place.host));
  co_await tls.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
  co_return co_await upgrade(std::move(provider), std::move(stream), place, std::move(call));
}

}  // namespace

Task<std::unique_ptr<WebSocket>> open_web_socket(std::string provider, WebSocketCall call) {
  const auto deadline = call.deadline;
  try {
    auto outcome = co_await attempt_within(deadline, dial(provider, std::move(call)));
    if (auto* error = std::get_if<Error>(&outcome)) {
      if (error->provider.empty()) error->provider = provider;
      throw *error;
    }
    co_return std::move(std::get<0>(outcome));
  } catch (const boost::system::system_error& failure) {
    Error error = broken_off(failure);
    error.provider = provider;
    throw error;
  }
}

}  // namespace sandgate
