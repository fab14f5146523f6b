#include <boost/url/parse.hpp>

#include "providers/address_rules.hpp"
#include "providers/sandgate.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

using boost::asio::ip::tcp;

constexpr std::chrono::minutes kTokenAge{5};  // then it is asked for again, and is the same
constexpr size_t kMaxTokens = 10'000;

struct PortHost {
  std::string host, port, path;
  std::string authority;  // as a Host field names it
  bool tls = false;
};

PortHost host_of(const std::string& base_url) {
  const auto url = boost::urls::parse_uri(base_url);
  if (!url) throw Error(ErrorCode::unavailable, "the other gateway's URL is wrong");
  PortHost host;
  host.tls = url->scheme() == "https";
  host.host = std::string(url->host_address());
  host.port = url->has_port() ? std::string(url->port()) : host.tls ? "443" : "80";
  host.path = std::string(url->encoded_path());
  host.authority = std::string(url->encoded_host_and_port());
  return host;
}

Task<StreamSocket> connect_to(PortHost host, bool allow_private) {
  const auto executor = co_await asio::this_coro::executor;
  tcp::resolver resolver(executor);
  const auto [unknown, found] =
      co_await resolver.async_resolve(host.host, host.port, asio::as_tuple(asio::use_awaitable));
  tcp::socket socket(executor);
  for (const auto& entry : found) {
    const tcp::endpoint address = entry.endpoint();
    if (!allow_private && !is_public_address(*address.data())) continue;
    socket = tcp::socket(executor);
    const auto [failure] =
        co_await socket.async_connect(address, asio::as_tuple(asio::use_awaitable));
    if (failure) continue;
    socket.set_option(tcp::no_delay(true));
    co_return StreamSocket(socket.release());
  }
  throw Error(ErrorCode::unavailable, "the other gateway cannot be reached");
}

}  // namespace

Task<std::string> SandgateProvider::port_token(std::string id, uint16_t port) {
  const std::string key = id + ":" + std::to_string(port);
  {
    std::lock_guard lock(mutex_);
    const auto found = port_tokens_.find(key);
    if (found != port_tokens_.end() &&
        std::chrono::steady_clock::now() - found->second.read_at < kTokenAge)
      co_return found->second.token;
  }
  RestCall call{.method = "POST",
                .path = "/v1/sandboxes/" + percent_encode(id) + "/ports",
                .json = Json{{"port", port}, {"access", "token"}},
                // Repeating it gives the same token again, to every replica of this gateway.
                .headers = {{"Idempotency-Key", "port-" + key}}};
  const Json document = co_await api_.call(std::move(call));
  const std::string token = text_of(document, "token");
  if (token.empty()) throw Error(ErrorCode::unavailable, "sandgate gave no token for a port");
  std::lock_guard lock(mutex_);
  if (port_tokens_.size() >= kMaxTokens) port_tokens_.clear();
  port_tokens_[key] = {token, std::chrono::steady_clock::now()};
  co_return token;
}

Task<PortConnection> SandgateProvider::dial(std::string id, uint16_t port) {
  if (!descriptor().can(Verb::ports))
    throw Error(ErrorCode::unsupported, "the other gateway's profile has no ports");
  PortHost host = host_of(api_.target().base_url);
  PortConnection connection;
  const std::string token = co_await port_token(id, port);
  connection.headers.emplace_back("Host", host.authority);
  connection.headers.emplace_back("X-Sandgate-Token", token);
  connection.path_prefix = host.path + "/p/" + percent_encode(id) + "/" + std::to_string(port);
  if (host.tls) connection.tls_host = host.host;
  StreamSocket socket = co_await connect_to(std::move(host), api_.target().allow_private);
  connection.socket = std::move(socket);
  co_return connection;
}

}  // namespace sandgate
