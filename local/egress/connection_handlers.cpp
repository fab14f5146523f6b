#include "local/egress/connection_handlers.hpp"

#include "local/egress/http_forward.hpp"
#include "local/egress/refusal.hpp"
#include "local/egress/tunnel.hpp"

namespace sandgate::egress {
namespace {

constexpr std::string_view kConnected = "HTTP/1.1 200 Connection established\r\n\r\n";

using ConnectionPtr = std::shared_ptr<Connection>;

// Checks the target of a proxy request against the policy. An allowed target becomes the
// connection's.
Refusal authorize_target(Connection& connection, const std::optional<Target>& target,
                         std::string_view way) {
  if (!target) {
    connection.sandbox->log_refusal("(proxy)", way, "malformed");
    return {400, "malformed"};
  }
  if (!connection.sandbox->authorize(*target, way)) return {403, "no_rule"};
  connection.target = *target;
  return {};
}

Task<void> serve_connect(ConnectionPtr connection, PlainStream& client, std::string rest,
                         std::string authority) {
  const auto target = rest.empty() ? target_from(authority) : std::nullopt;
  Refusal refusal = authorize_target(*connection, target, "connect");
  if (!refusal) {
    auto dialling = dial_target(connection, "connect");
    refusal = co_await std::move(dialling);
  }
  if (refusal) {
    auto refusing =
        refuse(connection, client, refusal.status, std::move(authority), refusal.reason);
    co_return co_await std::move(refusing);
  }
  auto writing = client.write(kConnected);
  const bool ok = co_await std::move(writing);
  if (!ok) co_return;
  auto tunnelling = tunnel(connection);
  co_await std::move(tunnelling);
}

Task<void> serve_request(ConnectionPtr connection, PlainStream& client, Received received) {
  RequestHead& head = received.result.head;
  const auto authority = take_authority(head, "http://");
  const auto target = authority ? target_from(*authority, kHttpPort) : std::nullopt;
  Refusal refusal = authorize_target(*connection, target, "http");
  // The Host header must agree with the target that was judged. Secrets are never put into plain
  // HTTP.
  if (!refusal && !is_for(head, *target, kHttpPort)) {
    refusal = {403, "other_host"};
    log_refusal(*connection, "http", refusal.reason);
  } else if (!refusal) {
    auto dialling = dial_target(connection, "http");
    refusal = co_await std::move(dialling);
  }
  if (refusal) {
    auto refusing = refuse(connection, client, refusal.status, target ? to_string(*target) : "",
                           refusal.reason);
    co_return co_await std::move(refusing);
  }
  PlainStream upstream(connection->upstream);
  auto forwarding =
      forward(connection, client, upstream, std::move(head), std::move(received.rest), Redactor());
  co_await std::move(forwarding);
}

}  // namespace

Task<void> serve_proxy(std::shared_ptr<Connection> connection) {
  PlainStream client(connection->client);
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  if (received.result.state == HeadState::incomplete) co_return;
  if (received.result.state == HeadState::malformed) {
    connection->sandbox->log_refusal("(proxy)", "http", received.result.reason);
    auto refusing = refuse(connection, client, 400, "", received.result.reason);
    co_await std::move(refusing);
  } else if (received.result.head.method == "CONNECT") {
    auto serving =
        serve_connect(connection, client, std::move(received.rest), received.result.head.target);
    co_await std::move(serving);
  } else {
    auto serving = serve_request(connection, client, std::move(received));
    co_await std::move(serving);
  }
}

Task<void> serve_transparent(std::shared_ptr<Connection> connection) {
  boost::system::error_code failure;
  const auto local = connection->client.local_endpoint(failure);
  if (failure) co_return;
  // Refuse with a reset, so that the program sees a failed connection instead of an empty answer.
  connection->client.set_option(asio::socket_base::linger(true, 0), failure);
  auto address = local.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  Target target{address.to_string(), local.port()};
  if (address.is_v6()) target.host = "[" + target.host + "]";
  if (address.is_v4()) {
    const uint32_t number = address.to_v4().to_uint();
    if (number - SyntheticNames::kBase < SyntheticNames::kCount) {
      const auto name = connection->sandbox->names().name_of(number);
      if (!name)
        co_return connection->sandbox->log_refusal(to_string(target), "tcp", "unknown_address");
      target.host = *name;
    }
  }
  if (!connection->sandbox->authorize(target, "tcp")) co_return;
  connection->target = target;
  auto tunnelling = tunnel(connection);
  co_await std::move(tunnelling);
}

}  // namespace sandgate::egress
