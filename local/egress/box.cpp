#include "local/egress/box.hpp"

#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "local/egress/conversation.hpp"
#include "local/egress/dns_server.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxVerdicts = 256;
constexpr int kLogLinesPerSecond = 10;
constexpr std::chrono::seconds kFirstPatience{15};
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

Connection::Connection(std::shared_ptr<Box> of, Socket socket)
    : box(std::move(of)), client(std::move(socket)), upstream(box->around().loop) {
  box->connections_.insert(this);
  box->descriptors_->take(box->tenant_);
  touch(kFirstPatience);
}

Connection::~Connection() {
  box->connections_.erase(this);
  box->descriptors_->give_back(box->tenant_);
  box->room_.cancel();
}

void Connection::cut() {
  boost::system::error_code ignored;
  ended = true;
  client.close(ignored);
  upstream.close(ignored);
}

void Connection::touch(std::chrono::seconds patience) {
  deadline = std::chrono::steady_clock::now() + patience;
}

void Connection::count_sent(size_t bytes) { box->bytes_.add(bytes); }

Box::Box(Surroundings& around, std::string id, std::string tenant, Policy policy, Fd byte_count)
    : around_(around),
      descriptors_(around.descriptors),
      id_(std::move(id)),
      tenant_(std::move(tenant)),
      policy_(std::move(policy)),
      names_(random_start()),
      room_(around.loop, std::chrono::steady_clock::time_point::max()),
      patrol_(around.loop),
      bytes_(std::move(byte_count)) {
  descriptors_->open_doors();
}

Box::~Box() { descriptors_->close_doors(); }

void Box::serve_on(Fd listener, bool v6, Talk talk) {
  if (!listener) return;
  auto acceptor = std::make_shared<Acceptor>(around_.loop);
  acceptor->assign(v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), listener.release());
  acceptor->non_blocking(true);
  acceptors_.push_back(acceptor);
  auto self = shared_from_this();
  spawn_detached(around_.loop.get_executor(),
                 [self, acceptor, talk] { return self->welcome(acceptor, talk); });
}

void Box::open(Doors doors) {
  serve_on(std::move(doors.proxy), false, serve_proxy);
  serve_on(std::move(doors.any), true, serve_any);
  serve_on(std::move(doors.dns_tcp), false, serve_dns_stream);
  auto self = shared_from_this();
  if (doors.dns_udp) {
    dns_ = std::make_shared<asio::ip::udp::socket>(around_.loop);
    dns_->assign(asio::ip::udp::v4(), doors.dns_udp.release());
    spawn_detached(around_.loop.get_executor(),
                   [self, socket = dns_] { return serve_dns(self, socket); });
  }
  spawn_detached(around_.loop.get_executor(), [self] { return self->patrol(); });
}

void Box::close() {
  boost::system::error_code ignored;
  closed_ = true;
  for (const auto& acceptor : acceptors_) acceptor->close(ignored);
  if (dns_) dns_->close(ignored);
  for (Connection* connection : connections_) connection->cut();
  room_.cancel();
  patrol_.cancel();
}

void Box::set_policy(Policy policy) {
  policy_ = std::move(policy);
  for (Connection* connection : connections_) {
    const auto& target = connection->target;
    if (!target || policy_.allows(*target)) continue;
    note(to_string(*target), "tcp", false, "rule_withdrawn");
    connection->cut();
  }
}

void Box::set_secrets(SecretGrants secrets) {
  secrets_ = std::move(secrets);
  needles_.clear();
  std::set<std::string> hosts;
  for (const SecretGrant& grant : secrets_.grants) hosts.insert(grant.host);
  if (authority_) authority_->keep_only(hosts);
}

PlacedSecrets Box::put_secrets(RequestHead& head, const std::string& host) {
  PlacedSecrets placed = egress::put_secrets(head, host, secrets_);
  const auto [known, is_new] = needles_.try_emplace(host);
  if (is_new) {
    for (const SecretGrant& grant : secrets_.grants)
      if (grant.host == host) known->second.push_back(std::make_shared<const Needle>(grant.value));
  }
  placed.hidden.insert(placed.hidden.end(), known->second.begin(), known->second.end());
  return placed;
}

Authority& Box::authority() {
  if (!authority_) authority_ = std::make_unique<Authority>(id_);
  return *authority_;
}

bool Box::judge(const Target& target, std::string_view way) {
  const bool allowed = policy_.allows(target);
  note(to_string(target), way, allowed, allowed ? "" : "no_rule");
  return allowed;
}

void Box::note(std::string target, std::string_view way, bool allowed, std::string_view reason) {
  const auto now = std::chrono::steady_clock::now();
  if (now - log_window_ >= std::chrono::seconds(1)) {
    log_window_ = now;
    logged_ = 0;
  }
  if (!allowed && ++logged_ <= kLogLinesPerSecond) {
    log::info("egress refused",
              {{"sandbox", id_}, {"target", target}, {"way", way}, {"reason", reason}});
  }
  if (verdicts_.size() == kMaxVerdicts) verdicts_.pop_front();
  verdicts_.push_back({SystemClock().now(), std::move(target), way, allowed, reason});
}

bool Box::has_room() const {
  return connections_.size() < kMaxConnections && descriptors_->has_place(tenant_);
}

// At the limit, connections wait in the kernel's backlog. The limit is checked only once a
// connection is pending, so that an idle listener reserves nothing.
Task<void> Box::welcome(std::shared_ptr<Acceptor> acceptor, Talk talk) {
  auto self = shared_from_this();
  while (!closed_) {
    auto [error] = co_await acceptor->async_wait(Acceptor::wait_read, kWaited);
    while (!closed_ && !has_room()) co_await room_.async_wait(kWaited);
    if (closed_) co_return;
    Socket socket(around_.loop);
    if (!error) acceptor->accept(socket, error);
    if (!error) {
      auto connection = std::make_shared<Connection>(self, std::move(socket));
      spawn_detached(around_.loop.get_executor(),
                     [connection, talk] { return converse(connection, talk); });
    } else if (error != asio::error::would_block) {  // such as a lack of descriptors
      co_await sleep_for(std::chrono::milliseconds(50));
    }
  }
}

// A failure ends only its own connection.
Task<void> Box::converse(std::shared_ptr<Connection> connection, Talk talk) {
  try {
    auto talking = talk(connection);
    co_await std::move(talking);
  } catch (const std::exception& failure) {
    log::warn("egress connection failed",
              {{"sandbox", connection->box->id()}, {"reason", failure.what()}});
  }
  connection->cut();
}

Task<void> Box::patrol() {
  auto self = shared_from_this();
  while (!closed_) {
    patrol_.expires_after(std::chrono::seconds(1));
    co_await patrol_.async_wait(kWaited);
    room_.cancel();  // another sandbox's connections may have ended
    const auto now = std::chrono::steady_clock::now();
    for (Connection* connection : connections_)
      if (connection->deadline < now) connection->cut();
  }
}

}  // namespace sandgate::egress
