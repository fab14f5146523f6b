#include "local/egress/conversation.hpp"

#include "local/egress/dial.hpp"
#include "local/egress/first_bytes.hpp"
#include "local/egress/http_forward.hpp"
#include "local/egress/relay.hpp"

namespace sandgate::egress {
namespace {

constexpr uint16_t kHttp = 80, kHttps = 443;
constexpr std::chrono::seconds kFirstWordsPatience{15}, kSilencePatience{600};
constexpr std::string_view kConnected = "HTTP/1.1 200 Connection established\r\n\r\n";

using ConnectionPtr = std::shared_ptr<Connection>;

void note_refusal(Connection& connection, std::string_view way, std::string_view reason) {
  connection.box->note(to_string(*connection.target), way, false, reason);
}

// Empty: the client may speak TLS to the target. `needs_name` where every client of today says it.
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
  // An encrypted hello is no proof of another name: browsers send one, of noise, to every server.
  // Without a name beside it there is nothing to judge it by.
  if (!result.hello.server_name && result.hello.encrypted_hello) return "encrypted_hello";
  if (!result.hello.server_name) return needs_name ? "no_server_name" : "";
  return *result.hello.server_name == target.host ? "" : "other_server_name";
}

// What is answered from here on must arrive, so no reset ends the connection.
void end_in_order(Connection& connection) {
  boost::system::error_code ignored;
  connection.client.set_option(asio::socket_base::linger(false, 0), ignored);
}

// Dials unless that was done before. False: there is no upstream, and the log says why.
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

Task<void> speak_http(ConnectionPtr connection) {
  end_in_order(*connection);
  PlainStream client(connection->client), upstream(connection->upstream);
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  std::string_view wrong;
  if (received.result.state == HeadState::incomplete) co_return;
  if (received.result.state == HeadState::malformed) wrong = received.result.reason;
  if (wrong.empty() && !is_for(received.result.head, *connection->target, kHttp))
    wrong = "other_host";
  if (!wrong.empty()) {
    note_refusal(*connection, "http", wrong);
    auto refusing =
        refuse(client, wrong == "other_host" ? 403 : 400, to_string(*connection->target), wrong);
    co_return co_await std::move(refusing);
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

// Also one whose request line names the host, as servers are to accept it; both namings count.
bool is_for_host(RequestHead& head, const Target& target) {
  const auto authority = take_authority(head, "https://");
  if (authority && target_from(*authority, kHttps) != target) return false;
  return is_for(head, target, kHttps);
}

// One request over TLS that ends here: the only place where a secret's value is put in.
Task<void> speak_for_client(ConnectionPtr connection, TlsStream& client) {
  const Target target = *connection->target;
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  std::string_view wrong;
  if (received.result.state == HeadState::incomplete) co_return;
  if (received.result.state == HeadState::malformed) wrong = received.result.reason;
  if (wrong.empty() && !is_for_host(received.result.head, target)) wrong = "other_host";
  PlacedSecrets placed;
  if (wrong.empty()) {
    placed = connection->box->put_secrets(received.result.head, target.host);
    wrong = placed.wrong;
  }
  if (!wrong.empty()) {
    note_refusal(*connection, "http", wrong);
    const bool malformed = received.result.state == HeadState::malformed;
    auto refusing = refuse(client, malformed ? 400 : 403, to_string(target), wrong);
    co_return co_await std::move(refusing);
  }
  TlsStream upstream(connection->upstream, connection->box->around().upstream_tls);
  auto dialling = have_upstream(connection);
  bool connected = co_await std::move(dialling);
  if (connected) {
    auto shaking = upstream.connect(target.host);
    connected = co_await std::move(shaking);
    if (!connected) note_refusal(*connection, "tls", "upstream_not_trusted");
  }
  if (!connected) {
    auto refusing = refuse(client, 502, to_string(target), "unreachable");
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

// What was judged is held to: on ports whose protocol is known, before anything is dialled.
Task<void> tunnel(ConnectionPtr connection) {
  connection->touch(kFirstWordsPatience);
  const Target& target = *connection->target;
  if (!target.is_name()) return pass_on(connection);
  if (target.port == kHttps) return speak_tls(connection, true);
  if (target.port == kHttp) return speak_http(connection);
  return speak_other(connection);
}

Task<void> serve_connect(ConnectionPtr connection, PlainStream& client, std::string rest,
                         std::string authority) {
  const auto target = target_from(authority);
  std::string_view wrong;
  int status = 400;
  if (!target || !rest.empty()) wrong = "malformed";
  if (wrong.empty() && !connection->box->judge(*target, "connect")) {
    wrong = "no_rule";
    status = 403;
  }
  if (wrong.empty()) {
    connection->target = *target;
    auto dialling = dial(connection, *target);
    wrong = co_await std::move(dialling);
    status = wrong == "private_address" ? 403 : 502;
    if (!wrong.empty()) note_refusal(*connection, "connect", wrong);
  }
  if (!wrong.empty()) {
    auto refusing = refuse(client, status, std::move(authority), wrong);
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
  const auto target = authority ? target_from(*authority, kHttp) : std::nullopt;
  std::string_view wrong;
  int status = 400;
  if (!target) wrong = "malformed";
  if (wrong.empty() && !connection->box->judge(*target, "http")) {
    wrong = "no_rule";
    status = 403;
  }
  if (wrong.empty()) {
    connection->target = *target;
    // A name that ends TLS at the proxy is never spoken to in clear with its placeholder's header.
    if (!is_for(head, *target, kHttp)) {
      wrong = "other_host";
      status = 403;
    } else {
      auto dialling = dial(connection, *target);
      wrong = co_await std::move(dialling);
      status = wrong == "private_address" ? 403 : 502;
    }
    if (!wrong.empty()) note_refusal(*connection, "http", wrong);
  }
  if (!wrong.empty()) {
    auto refusing = refuse(client, status, target ? to_string(*target) : "", wrong);
    co_return co_await std::move(refusing);
  }
  PlainStream upstream(connection->upstream);
  auto forwarding =
      forward(connection, client, upstream, std::move(head), std::move(received.rest), Mask());
  co_await std::move(forwarding);
}

}  // namespace

Task<void> serve_proxy(std::shared_ptr<Connection> connection) {
  PlainStream client(connection->client);
  auto reading = read_head(client);
  Received received = co_await std::move(reading);
  if (received.result.state == HeadState::incomplete) co_return;
  if (received.result.state == HeadState::malformed) {
    connection->box->note("(proxy)", "http", false, received.result.reason);
    auto refusing = refuse(client, 400, "", received.result.reason);
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

Task<void> serve_any(std::shared_ptr<Connection> connection) {
  boost::system::error_code failure;
  const auto local = connection->client.local_endpoint(failure);
  if (failure) co_return;
  // Refusals end with a reset: the program sees a refused connection, not an empty answer.
  connection->client.set_option(asio::socket_base::linger(true, 0), failure);
  auto address = local.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  Target target{address.to_string(), local.port()};
  if (address.is_v6()) target.host = "[" + target.host + "]";
  if (address.is_v4()) {
    const uint32_t number = address.to_v4().to_uint();
    if (number - SyntheticNames::kBase < SyntheticNames::kCount) {
      const auto name = connection->box->names().name_of(number);
      if (!name)
        co_return connection->box->note(to_string(target), "tcp", false, "unknown_address");
      target.host = *name;
    }
  }
  if (!connection->box->judge(target, "tcp")) co_return;
  connection->target = target;
  auto tunnelling = tunnel(connection);
  co_await std::move(tunnelling);
}

}  // namespace sandgate::egress
