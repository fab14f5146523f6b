#include "gateway/http/server.hpp"

#include <future>
#include <thread>

#include "gateway/core/log.hpp"
#include "gateway/http/bind.hpp"

namespace sandgate::http {
namespace {

// Allowance above max_connections for connections that are being refused or are closing.
constexpr size_t kRefusals = 256;
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::milliseconds kCancelTimeout{5000};

}  // namespace

Server::Server(IoThreads& io, Responder& responder, ServerOptions options)
    : io_(io),
      options_(std::move(options)),
      context_{responder, options_.limits, options_.access_log} {
  for (size_t i = 0; i < io_.size(); ++i)
    connection_sets_.push_back(std::make_shared<ConnectionSet>(io_.loop(i), open_connections_));
}

Server::~Server() { stop_within(std::chrono::milliseconds(0)); }

void Server::start() {
  if (options_.tls) tls_.emplace(*options_.tls);
  acceptor_.emplace(
      bind_listener(io_.loop(0), options_.address, options_.port, options_.bind_timeout));
  port_ = acceptor_->local_endpoint().port();
  running_ = true;
  accepting_.add();
  asio::co_spawn(
      io_.loop(0), [this] { return accept_until_closed(); },
      [this](std::exception_ptr) { accepting_.done(); });
}

void Server::reload_tls() {
  if (tls_) tls_->reload();
}

void Server::change(const ServerOptions& options) {
  options_.max_connections = options.max_connections;
  options_.grace = options.grace;
  context_.limits.header_bytes = options.limits.header_bytes;
  context_.access_log = options.access_log;
}

size_t Server::least_loaded_loop() const {
  size_t best = 0;
  for (size_t i = 1; i < connection_sets_.size(); ++i)
    if (connection_sets_[i]->size() < connection_sets_[best]->size()) best = i;
  return best;
}

bool Server::evict_waiting() {
  const auto most = std::ranges::max_element(
      connection_sets_, {},
      [](const std::shared_ptr<ConnectionSet>& set) { return set->waiting(); });
  if ((*most)->waiting() == 0) return false;
  (*most)->schedule_eviction();
  return true;
}

void Server::take(Transport::Socket socket, size_t loop) {
  if (open_connections_->count() >= options_.max_connections + kRefusals) return;
  const bool refused = open_connections_->count() >= options_.max_connections && !evict_waiting();
  open_connections_->add();
  auto tls = tls_ ? tls_->current() : nullptr;
  asio::dispatch(io_.loop(loop), [this, refused, tls = std::move(tls), set = connection_sets_[loop],
                                  socket = std::move(socket)]() mutable {
    auto connection =
        std::make_shared<Connection>(std::move(socket), std::move(tls), context_, std::move(set));
    if (refused)
      connection->start_refusing();
    else
      connection->start();
  });
}

Task<void> Server::accept_one() {
  const size_t loop = least_loaded_loop();
  auto [failure, socket] =
      co_await acceptor_->async_accept(io_.loop(loop), asio::as_tuple(asio::use_awaitable));
  if (!acceptor_->is_open()) co_return;
  if (failure) throw Error(ErrorCode::unavailable, failure.message());
  take(std::move(socket), loop);
}

// No failure ends it, not even one of memory: a server that no longer accepts looks alive.
Task<void> Server::accept_until_closed() {
  while (acceptor_->is_open()) {
    auto accepting = accept_one();
    const auto outcome = co_await attempt(std::move(accepting));
    const auto* failure = std::get_if<Error>(&outcome);
    if (!failure) continue;
    // Most likely out of file descriptors; closing connections frees some.
    log::warn("cannot accept a connection", {{"reason", failure->what()}});
    co_await sleep_for(kAcceptPause);
  }
}

void Server::on_every_loop(void (ConnectionSet::*what)()) {
  for (size_t i = 0; i < connection_sets_.size(); ++i)
    asio::post(io_.loop(i), [set = connection_sets_[i], what] { ((*set).*what)(); });
}

void Server::stop() { stop_within(options_.grace); }

void Server::stop_within(std::chrono::milliseconds grace) {
  if (!running_) return;
  running_ = false;
  asio::post(io_.loop(0), [this] { acceptor_->close(); });
  accepting_.wait_for(kCancelTimeout);
  on_every_loop(&ConnectionSet::begin_stop);
  if (open_connections_->wait_for(grace)) return;
  on_every_loop(&ConnectionSet::cut_off_all);
  if (!open_connections_->wait_for(kCancelTimeout))
    log::error("connections did not end", {{"count", open_connections_->count()}});
}

}  // namespace sandgate::http
