#include <boost/url/parse.hpp>

#include "providers/sandgate/sandgate.hpp"
#include "providers/transport/upstream_socket.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kTokenAge{5};  // a later request returns the same token
constexpr size_t kMaxTokens = 10'000;

struct PortHost {
  std::string host, port, path;
  std::string authority;  // as in a Host field
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
                // With the same key every replica of this gateway gets the same token.
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
  auto connecting = connect_upstream(host.host, host.port, api_.target().allow_private);
  asio::ip::tcp::socket socket = co_await std::move(connecting);
  connection.socket = Fd(socket.release());
  co_return connection;
}

}  // namespace sandgate
