#include "local/egress/egress_sandbox.hpp"

#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "local/egress/connection_handlers.hpp"
#include "local/egress/dns_server.hpp"
#include "local/egress/socket_buffers.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxVerdicts = 256;
constexpr std::chrono::seconds kFirstTimeout{15};
constexpr auto kWaited = asio::as_tuple(asio::use_awaitable);

uint32_t random_start() {
  std::array<uint8_t, 4> bytes{};
  random_fill(bytes);
  return uint32_t{bytes[0]} << 16 | uint32_t{bytes[1]} << 8 | bytes[2];
}

}  // namespace

Json to_json(const Verdict& verdict) {
  Json document{{"at", to_rfc3339(verdict.at)},
                {"target", verdict.target},
                {"way", verdict.way},
                {"allowed", verdict.allowed}};
  if (!verdict.allowed) document["reason"] = verdict.reason;
  return document;
}

Connection::Connection(std::shared_ptr<EgressSandbox> of, Socket socket)
    : sandbox(std::move(of)), client(std::move(socket)), upstream(sandbox->services().loop) {
  sandbox->connections_.insert(this);
  sandbox->descriptors_->add_connection(sandbox->tenant_);
  set_idle_timeout(kFirstTimeout);
}

Connection::~Connection() {
  sandbox->connections_.erase(this);
  sandbox->descriptors_->remove_connection(sandbox->tenant_);
  sandbox->slot_freed_.cancel();
}

void Connection::close() {
  boost::system::error_code ignored;
  ended = true;
  client.close(ignored);
  upstream.close(ignored);
}

void Connection::set_idle_timeout(std::chrono::seconds timeout) {
  deadline = std::chrono::steady_clock::now() + timeout;
}

void Connection::set_buffers(bool limited) {
  for (Socket* const socket : {&client, &upstream})
    limited ? limit_buffers(*socket) : free_buffers(*socket);
}

Task<void> Connection::wait_for_turn() {
  const auto turns = sandbox->services().turns;
  const auto turn = co_await turns->acquire(sandbox->tenant());
  co_await asio::post(asio::use_awaitable);
}

void Connection::count_sent(size_t bytes) { sandbox->bytes_.add(bytes); }

EgressSandbox::EgressSandbox(Services& services, std::string id, std::string tenant, Policy policy,
                             Fd byte_count)
    : services_(services),
      descriptors_(services.descriptors),
      id_(std::move(id)),
      tenant_(std::move(tenant)),
      policy_(std::move(policy)),
      names_(random_start()),
      slot_freed_(services.loop, std::chrono::steady_clock::time_point::max()),
      sweep_timer_(services.loop),
      bytes_(std::move(byte_count)) {
  descriptors_->add_listeners();
}

EgressSandbox::~EgressSandbox() { descriptors_->remove_listeners(); }

void EgressSandbox::serve_on(Fd listener, bool v6, Handler handler) {
  if (!listener) return;
  auto acceptor = std::make_shared<Acceptor>(services_.loop);
  acceptor->assign(v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), listener.release());
  acceptor->non_blocking(true);
  acceptors_.push_back(acceptor);
  auto self = shared_from_this();
  spawn_detached(services_.loop.get_executor(),
                 [self, acceptor, handler] { return self->accept_connections(acceptor, handler); });
}

void EgressSandbox::open(Listeners listeners) {
  serve_on(std::move(listeners.proxy), /*v6=*/false, serve_proxy);
  serve_on(std::move(listeners.transparent), /*v6=*/true, serve_transparent);
  serve_on(std::move(listeners.dns_tcp), /*v6=*/false, serve_dns_stream);
  auto self = shared_from_this();
  if (listeners.dns_udp) {
    dns_ = std::make_shared<asio::ip::udp::socket>(services_.loop);
    dns_->assign(asio::ip::udp::v4(), listeners.dns_udp.release());
    spawn_detached(services_.loop.get_executor(),
                   [self, socket = dns_] { return serve_dns(self, socket); });
  }
  spawn_detached(services_.loop.get_executor(), [self] { return self->sweep(); });
}

void EgressSandbox::close() {
  boost::system::error_code ignored;
  closed_ = true;
  for (const auto& acceptor : acceptors_) acceptor->close(ignored);
  if (dns_) dns_->close(ignored);
  for (Connection* connection : connections_) connection->close();
  slot_freed_.cancel();
  sweep_timer_.cancel();
}

void EgressSandbox::set_policy(Policy policy) {
  policy_ = std::move(policy);
  for (Connection* connection : connections_) {
    const auto& target = connection->target;
    if (!target || policy_.allows(*target)) continue;
    log_refusal(to_string(*target), "tcp", "rule_withdrawn");
    connection->close();
  }
}

void EgressSandbox::set_secrets(SecretGrants secrets) {
  secrets_ = std::move(secrets);
  needles_.clear();
  std::set<std::string> hosts;
  for (const SecretGrant& grant : secrets_.grants) hosts.insert(grant.host);
  if (authority_) authority_->keep_only(hosts);
}

SubstitutedSecrets EgressSandbox::substitute_secrets(RequestHead& head, const std::string& host) {
  SubstitutedSecrets substituted = egress::substitute_secrets(head, host, secrets_);
  const auto [known, is_new] = needles_.try_emplace(host);
  if (is_new) {
    for (const SecretGrant& grant : secrets_.grants)
      if (grant.host == host) known->second.push_back(std::make_shared<const Needle>(grant.value));
  }
  substituted.hidden.insert(substituted.hidden.end(), known->second.begin(), known->second.end());
  return substituted;
}

Authority& EgressSandbox::authority() {
  if (!authority_) authority_ = std::make_unique<Authority>(id_);
  return *authority_;
}

bool EgressSandbox::authorize(const Target& target, std::string_view way) {
  const bool allowed = policy_.allows(target);
  if (allowed)
    add_verdict({.target = to_string(target), .way = way, .allowed = true});
  else
    log_refusal(to_string(target), way, "no_rule");
  return allowed;
}

void EgressSandbox::log_refusal(std::string target, std::string_view way, std::string_view reason) {
  if (const auto left_out = services_.log_pace->next(tenant_))
    log::info("egress refused", {{"sandbox", id_},
                                 {"target", target},
                                 {"way", way},
                                 {"reason", reason},
                                 {"left_out", *left_out}});
  add_verdict({.target = std::move(target), .way = way, .reason = reason});
}

void EgressSandbox::add_verdict(Verdict verdict) {
  verdict.at = SystemClock().now();
  if (verdicts_.size() == kMaxVerdicts) verdicts_.pop_front();
  verdicts_.push_back(std::move(verdict));
}

bool EgressSandbox::can_accept() const {
  return connections_.size() < kMaxConnections && descriptors_->can_connect(tenant_);
}

// At the limit, connections wait in the kernel's backlog. The limit is checked only once a
// connection is pending, so that an idle listener reserves nothing.
Task<void> EgressSandbox::accept_connections(std::shared_ptr<Acceptor> acceptor, Handler handler) {
  auto self = shared_from_this();
  while (!closed_) {
    auto [error] = co_await acceptor->async_wait(Acceptor::wait_read, kWaited);
    while (!closed_ && !can_accept()) co_await slot_freed_.async_wait(kWaited);
    if (closed_) co_return;
    Socket socket(services_.loop);
    if (!error) acceptor->accept(socket, error);
    if (!error) {
      auto connection = std::make_shared<Connection>(self, std::move(socket));
      spawn_detached(services_.loop.get_executor(),
                     [connection, handler] { return serve_connection(connection, handler); });
    } else if (error != asio::error::would_block) {  // such as a lack of descriptors
      co_await sleep_for(std::chrono::milliseconds(50));
    }
  }
}

// A failure ends only its own connection.
Task<void> EgressSandbox::serve_connection(std::shared_ptr<Connection> connection,
                                           Handler handler) {
  try {
    auto handling = handler(connection);
    co_await std::move(handling);
  } catch (const std::exception& failure) {
    const EgressSandbox& sandbox = *connection->sandbox;
    if (const auto left_out = sandbox.services_.log_pace->next(sandbox.tenant_))
      log::warn("egress connection failed",
                {{"sandbox", sandbox.id_}, {"reason", failure.what()}, {"left_out", *left_out}});
  }
  connection->close();
}

Task<void> EgressSandbox::sweep() {
  auto self = shared_from_this();
  while (!closed_) {
    sweep_timer_.expires_after(std::chrono::seconds(1));
    co_await sweep_timer_.async_wait(kWaited);
    slot_freed_.cancel();  // another sandbox's connections may have ended
    sweep_idle();
    limit_buffers_if_needed();
  }
}

void EgressSandbox::sweep_idle() {
  const auto now = std::chrono::steady_clock::now();
  for (Connection* connection : connections_)
    if (connection->deadline < now) connection->close();
}

// A limit that always holds would slow down every fast transfer over a long way.
void EgressSandbox::limit_buffers_if_needed() {
  size_t held = 0;
  for (Connection* connection : connections_)
    held += buffered_bytes(connection->client) + buffered_bytes(connection->upstream);
  const bool is_needed = held > (limited_ ? services_.most_buffered / 2 : services_.most_buffered);
  if (is_needed == limited_) return;
  limited_ = is_needed;
  log::info(limited_ ? "egress buffers limited" : "egress buffers free again",
            {{"sandbox", id_}, {"bytes", held}, {"connections", connections_.size()}});
  for (Connection* connection : connections_) connection->set_buffers(limited_);
}

}  // namespace sandgate::egress
