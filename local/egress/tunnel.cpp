#include "local/egress/tunnel.hpp"

#include "gateway/core/settle.hpp"
#include "local/egress/dial.hpp"
#include "local/egress/http_forward.hpp"
#include "local/egress/protocol_sniffer.hpp"
#include "local/egress/refusal.hpp"
#include "local/egress/relay.hpp"

namespace sandgate::egress {
namespace {

constexpr std::chrono::seconds kSniffTimeout{15}, kSilenceTimeout{600};
// Of the TLS of a host; then there is time to tell the program inside that it did not come about.
constexpr std::chrono::seconds kHandshakeTimeout{10}, kTimeToTell{5};

using ConnectionPtr = std::shared_ptr<Connection>;

// Returns the reason to refuse a ClientHello, empty if it is fine. With `needs_name` (port 443) the
// client must speak TLS and send a server name.
std::string_view refusal_reason(const HelloResult& result, const Target& target, bool needs_name) {
  switch (result.state) {
    case HelloState::incomplete:
      return "ended";
    case HelloState::not_tls:
      return needs_name ? "not_tls" : "";
    case HelloState::malformed:
      return "malformed_hello";
    case HelloState::complete:
      break;
  }
  // An encrypted hello does not imply another name: browsers send a random one to every server. But
  // without a plain server name beside it, the target cannot be checked.
  if (!result.hello.server_name && result.hello.encrypted_hello) return "encrypted_hello";
  if (!result.hello.server_name) return needs_name ? "no_server_name" : "";
  return *result.hello.server_name == target.host ? "" : "other_server_name";
}

// Lets the connection end without a reset, so that the responses sent from here on arrive.
void close_gracefully(Connection& connection) {
  boost::system::error_code ignored;
  connection.client.set_option(asio::socket_base::linger(false, 0), ignored);
}

// Connects the upstream unless it is connected. Logs a failure.
Task<Refusal> connect_upstream(ConnectionPtr connection) {
  if (connection->upstream.is_open()) co_return Refusal{};
  auto dialling = dial_target(connection, "tcp");
  const Refusal refusal = co_await std::move(dialling);
  if (!refusal) close_gracefully(*connection);
  co_return refusal;
}

Task<void> connect_and_relay(ConnectionPtr connection) {
  auto having = connect_upstream(connection);
  const Refusal refusal = co_await std::move(having);
  if (refusal) co_return;
  auto relaying = relay(connection);
  co_await std::move(relaying);
}

// Without logging it.
Task<void> tell(ConnectionPtr connection, Stream& client, Refusal refusal) {
  const std::string target = to_string(*connection->target);
  return refuse(std::move(connection), client, refusal.status, target, refusal.reason);
}

Task<void> send_refusal(ConnectionPtr connection, Stream& client, Refusal refusal) {
  log_refusal(*connection, "http", refusal.reason);
  return tell(connection, client, refusal);
}

Refusal check_request(const HeadResult& request, const Target& target) {
  if (request.state == HeadState::malformed) return {400, request.reason};
  if (!is_for(request.head, target, kHttpPort)) return {403, "other_host"};
  return {};
}

Task<void> tunnel_http(ConnectionPtr connection) {
  close_gracefully(*connection);
  PlainStream client(connection->client), upstream(connection->upstream);
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  if (received.result.state == HeadState::incomplete) co_return;
  const Refusal refusal = check_request(received.result, *connection->target);
  if (refusal) {
    auto turning = send_refusal(connection, client, refusal);
    co_return co_await std::move(turning);
  }
  auto dialling = connect_upstream(connection);
  const Refusal failure = co_await std::move(dialling);
  if (failure) {
    auto telling = tell(connection, client, failure);
    co_return co_await std::move(telling);
  }
  auto forwarding = forward(connection, client, upstream, std::move(received.result.head),
                            std::move(received.rest), Redactor());
  co_await std::move(forwarding);
}

// As is_for(), but also accepts a request line in absolute form, as servers must. Its authority
// must name the target, too.
bool is_for_host(RequestHead& head, const Target& target) {
  const auto authority = take_authority(head, "https://");
  if (authority && target_from(*authority, kHttpsPort) != target) return false;
  return is_for(head, target, kHttpsPort);
}

// Checks a request before anything is dialled for it. The values go into a copy of its head only.
Refusal check_terminated(HeadResult& request, Connection& connection) {
  const Target& target = *connection.target;
  if (request.state == HeadState::malformed) return {400, request.reason};
  if (!is_for_host(request.head, target)) return {403, "other_host"};
  RequestHead trial = request.head;
  return {403, connection.sandbox->substitute_secrets(trial, target.host).wrong};
}

// Connects the upstream and its TLS. Logs a failure.
Task<Refusal> connect_tls_upstream(ConnectionPtr connection, TlsStream& upstream) {
  auto dialling = connect_upstream(connection);
  Refusal refusal = co_await std::move(dialling);
  if (refusal) co_return refusal;
  connection->set_idle_timeout(kHandshakeTimeout + kTimeToTell);
  auto shaking = with_timeout(kHandshakeTimeout, upstream.connect(connection->target->host));
  const std::optional<bool> trusted = co_await std::move(shaking);
  if (trusted.value_or(false)) co_return Refusal{};
  refusal = {502, trusted ? "upstream_not_trusted" : "unreachable"};
  if (connection->ended) refusal.reason = "ended";
  log_refusal(*connection, "tls", refusal.reason);
  co_return refusal;
}

// Puts the values into the head and forwards it. Only once the upstream is connected, as a secret
// may be replaced or removed meanwhile: its old value must not leave after that.
Task<void> substitute_and_forward(ConnectionPtr connection, TlsStream& client, TlsStream& upstream,
                                  Received received) {
  RequestHead& head = received.result.head;
  SubstitutedSecrets substituted =
      connection->sandbox->substitute_secrets(head, connection->target->host);
  if (!substituted.wrong.empty()) {
    auto turning = send_refusal(connection, client, {403, substituted.wrong});
    co_return co_await std::move(turning);
  }
  auto forwarding = forward(connection, client, upstream, std::move(head), std::move(received.rest),
                            Redactor(std::move(substituted.hidden)));
  co_await std::move(forwarding);
}

// Forwards one request over TLS terminated here: the only place where secret values are inserted.
Task<void> forward_terminated(ConnectionPtr connection, TlsStream& client) {
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  if (received.result.state == HeadState::incomplete) co_return;
  const Refusal refusal = check_terminated(received.result, *connection);
  if (refusal) {
    auto turning = send_refusal(connection, client, refusal);
    co_return co_await std::move(turning);
  }
  TlsStream upstream(connection->upstream, connection->sandbox->services().upstream_tls);
  auto dialling = connect_tls_upstream(connection, upstream);
  const Refusal failure = co_await std::move(dialling);
  if (failure) {
    auto telling = tell(connection, client, failure);
    co_return co_await std::move(telling);
  }
  auto forwarding = substitute_and_forward(connection, client, upstream, std::move(received));
  co_await std::move(forwarding);
}

Task<void> terminate_tls(ConnectionPtr connection) {
  close_gracefully(*connection);
  TlsStream client(connection->client,
                   connection->sandbox->authority().context_for(connection->target->host));
  auto shaking = client.accept();
  const bool ok = co_await std::move(shaking);
  if (!ok) co_return log_refusal(*connection, "tls", "handshake_failed");
  auto speaking = forward_terminated(connection, client);
  co_await std::move(speaking);
}

Task<void> tunnel_tls(ConnectionPtr connection, bool needs_name) {
  auto peeking = peek_client_hello(connection->client);
  const HelloResult hello = co_await std::move(peeking);
  const auto wrong = refusal_reason(hello, *connection->target, needs_name);
  if (!wrong.empty()) co_return log_refusal(*connection, "tls", wrong);
  const bool here =
      needs_name && has_grant_for(connection->sandbox->secrets(), connection->target->host);
  auto going_on = here ? terminate_tls(connection) : connect_and_relay(connection);
  co_await std::move(going_on);
}

Task<void> tunnel_sniffed(ConnectionPtr connection) {
  auto having = connect_upstream(connection);
  const Refusal refusal = co_await std::move(having);
  if (refusal) co_return;
  connection->set_idle_timeout(kSilenceTimeout);
  auto peeking = sniff_protocol(connection->client, connection->upstream);
  const SniffedProtocol words = co_await std::move(peeking);
  connection->set_idle_timeout(kSniffTimeout);
  if (words == SniffedProtocol::tls) {
    auto speaking = tunnel_tls(connection, /*needs_name=*/false);
    co_await std::move(speaking);
  } else if (words == SniffedProtocol::http) {
    auto speaking = tunnel_http(connection);
    co_await std::move(speaking);
  } else {
    auto passing = connect_and_relay(connection);
    co_await std::move(passing);
  }
}

}  // namespace

void log_refusal(Connection& connection, std::string_view way, std::string_view reason) {
  connection.sandbox->log_refusal(to_string(*connection.target), way, reason);
}

Task<Refusal> dial_target(ConnectionPtr connection, std::string_view way) {
  auto dialling = dial(connection, *connection->target);
  const std::string_view wrong = co_await std::move(dialling);
  if (!wrong.empty()) log_refusal(*connection, way, wrong);
  co_return Refusal{wrong == "private_address" ? 403 : 502, wrong};
}

Task<void> tunnel(ConnectionPtr connection) {
  connection->set_idle_timeout(kSniffTimeout);
  const Target& target = *connection->target;
  if (!target.is_name()) return connect_and_relay(connection);
  if (target.port == kHttpsPort) return tunnel_tls(connection, true);
  if (target.port == kHttpPort) return tunnel_http(connection);
  return tunnel_sniffed(connection);
}

}  // namespace sandgate::egress
