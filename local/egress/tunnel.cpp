#include "local/egress/tunnel.hpp"

#include "local/egress/dial.hpp"
#include "local/egress/first_bytes.hpp"
#include "local/egress/http_forward.hpp"
#include "local/egress/relay.hpp"

namespace sandgate::egress {
namespace {

constexpr std::chrono::seconds kFirstWordsPatience{15}, kSilencePatience{600};

using ConnectionPtr = std::shared_ptr<Connection>;

// Returns the reason to refuse a ClientHello, empty if it is fine. With `needs_name` (port 443) the
// client must speak TLS and send a server name.
std::string_view wrong_with(const HelloResult& result, const Target& target, bool needs_name) {
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
void end_in_order(Connection& connection) {
  boost::system::error_code ignored;
  connection.client.set_option(asio::socket_base::linger(false, 0), ignored);
}

// Connects the upstream unless it is connected. On failure logs the reason and returns false.
Task<bool> have_upstream(ConnectionPtr connection) {
  if (connection->upstream.is_open()) co_return true;
  auto dialling = dial(connection, *connection->target);
  const std::string_view wrong = co_await std::move(dialling);
  if (!wrong.empty()) note_refusal(*connection, "tcp", wrong);
  if (wrong.empty()) end_in_order(*connection);
  co_return wrong.empty();
}

Task<void> pass_on(ConnectionPtr connection) {
  auto having = have_upstream(connection);
  const bool connected = co_await std::move(having);
  if (!connected) co_return;
  auto relaying = relay(connection);
  co_await std::move(relaying);
}

Task<void> turn_away(ConnectionPtr connection, Stream& client, Refusal refusal) {
  note_refusal(*connection, "http", refusal.reason);
  return refuse(client, refusal.status, to_string(*connection->target), refusal.reason);
}

Refusal judge_request(const HeadResult& request, const Target& target) {
  if (request.state == HeadState::malformed) return {400, request.reason};
  if (!is_for(request.head, target, kHttpPort)) return {403, "other_host"};
  return {};
}

Task<void> speak_http(ConnectionPtr connection) {
  end_in_order(*connection);
  PlainStream client(connection->client), upstream(connection->upstream);
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  if (received.result.state == HeadState::incomplete) co_return;
  const Refusal refusal = judge_request(received.result, *connection->target);
  if (refusal) {
    auto turning = turn_away(connection, client, refusal);
    co_return co_await std::move(turning);
  }
  auto dialling = have_upstream(connection);
  const bool connected = co_await std::move(dialling);
  if (!connected) {
    auto refusing = refuse(client, 502, to_string(*connection->target), "unreachable");
    co_return co_await std::move(refusing);
  }
  auto forwarding = forward(connection, client, upstream, std::move(received.result.head),
                            std::move(received.rest), Mask());
  co_await std::move(forwarding);
}

// As is_for(), but also accepts a request line in absolute form, as servers must. Its authority
// must name the target, too.
bool is_for_host(RequestHead& head, const Target& target) {
  const auto authority = take_authority(head, "https://");
  if (authority && target_from(*authority, kHttpsPort) != target) return false;
  return is_for(head, target, kHttpsPort);
}

// Checks a request and puts secrets into its head; `placed` describes them.
Refusal judge_and_place(HeadResult& request, Connection& connection, PlacedSecrets& placed) {
  const Target& target = *connection.target;
  if (request.state == HeadState::malformed) return {400, request.reason};
  if (!is_for_host(request.head, target)) return {403, "other_host"};
  placed = connection.box->put_secrets(request.head, target.host);
  return {403, placed.wrong};
}

// Connects the upstream and its TLS. On failure logs the reason and returns false.
Task<bool> have_tls_upstream(ConnectionPtr connection, TlsStream& upstream) {
  auto dialling = have_upstream(connection);
  const bool connected = co_await std::move(dialling);
  if (!connected) co_return false;
  auto shaking = upstream.connect(connection->target->host);
  const bool trusted = co_await std::move(shaking);
  if (!trusted) note_refusal(*connection, "tls", "upstream_not_trusted");
  co_return trusted;
}

// Forwards one request over TLS terminated here: the only place where secret values are inserted.
Task<void> speak_for_client(ConnectionPtr connection, TlsStream& client) {
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  if (received.result.state == HeadState::incomplete) co_return;
  PlacedSecrets placed;
  const Refusal refusal = judge_and_place(received.result, *connection, placed);
  if (refusal) {
    auto turning = turn_away(connection, client, refusal);
    co_return co_await std::move(turning);
  }
  TlsStream upstream(connection->upstream, connection->box->around().upstream_tls);
  auto dialling = have_tls_upstream(connection, upstream);
  const bool connected = co_await std::move(dialling);
  if (!connected) {
    auto refusing = refuse(client, 502, to_string(*connection->target), "unreachable");
    co_return co_await std::move(refusing);
  }
  auto forwarding = forward(connection, client, upstream, std::move(received.result.head),
                            std::move(received.rest), Mask(std::move(placed.hidden)));
  co_await std::move(forwarding);
}

Task<void> end_tls_here(ConnectionPtr connection) {
  end_in_order(*connection);
  TlsStream client(connection->client,
                   connection->box->authority().context_for(connection->target->host));
  auto shaking = client.accept();
  const bool ok = co_await std::move(shaking);
  if (!ok) co_return note_refusal(*connection, "tls", "handshake_failed");
  auto speaking = speak_for_client(connection, client);
  co_await std::move(speaking);
}

Task<void> speak_tls(ConnectionPtr connection, bool needs_name) {
  auto peeking = peek_hello(connection->client);
  const HelloResult hello = co_await std::move(peeking);
  const auto wrong = wrong_with(hello, *connection->target, needs_name);
  if (!wrong.empty()) co_return note_refusal(*connection, "tls", wrong);
  const bool here =
      needs_name && has_grant_for(connection->box->secrets(), connection->target->host);
  auto going_on = here ? end_tls_here(connection) : pass_on(connection);
  co_await std::move(going_on);
}

Task<void> speak_other(ConnectionPtr connection) {
  auto having = have_upstream(connection);
  const bool connected = co_await std::move(having);
  if (!connected) co_return;
  connection->touch(kSilencePatience);
  auto peeking = peek_first_words(connection->client, connection->upstream);
  const FirstWords words = co_await std::move(peeking);
  connection->touch(kFirstWordsPatience);
  if (words == FirstWords::tls) {
    auto speaking = speak_tls(connection, false);
    co_await std::move(speaking);
  } else if (words == FirstWords::http) {
    auto speaking = speak_http(connection);
    co_await std::move(speaking);
  } else {
    auto passing = pass_on(connection);
    co_await std::move(passing);
  }
}

}  // namespace

void note_refusal(Connection& connection, std::string_view way, std::string_view reason) {
  connection.box->note(to_string(*connection.target), way, false, reason);
}

Task<void> tunnel(ConnectionPtr connection) {
  connection->touch(kFirstWordsPatience);
  const Target& target = *connection->target;
  if (!target.is_name()) return pass_on(connection);
  if (target.port == kHttpsPort) return speak_tls(connection, true);
  if (target.port == kHttpPort) return speak_http(connection);
  return speak_other(connection);
}

}  // namespace sandgate::egress
