#include "local/egress/dial.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include "gateway/core/settle.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxTries = 4;
// Of the lookup, and again of all tries together; the tries end in time for an answer.
constexpr std::chrono::seconds kDialTimeout{20};
constexpr std::chrono::steady_clock::duration kTriesTimeout = std::chrono::seconds(16),
                                              kTryTimeout = kTriesTimeout / kMaxTries;
constexpr int kMaxUnsent = 256 << 10;

Task<std::optional<Addresses>> addresses_of(EgressSandbox& sandbox, const Target& target) {
  if (!target.is_name()) {
    const bool v6 = target.host.starts_with('[');
    const std::string text = v6 ? target.host.substr(1, target.host.size() - 2) : target.host;
    boost::system::error_code failure;
    const auto address = asio::ip::make_address(text, failure);
    Addresses one;
    if (!failure) one.push_back(address);
    co_return one;
  }
  FairResolver::Requester requester{sandbox.tenant(), sandbox.id()};
  auto looking = sandbox.services().resolver.addresses_of(std::move(requester), target.host);
  co_return co_await std::move(looking);
}

Task<bool> connects(Connection& connection, asio::ip::tcp::endpoint endpoint) {
  auto [error] =
      co_await connection.upstream.async_connect(endpoint, asio::as_tuple(asio::use_awaitable));
  co_return !error;
}

// What the receiver has no room for stays with the sender. Otherwise the kernel would keep
// megabytes of each connection here, which count as no sandbox's.
void set_up(Socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMaxUnsent,
             sizeof kMaxUnsent);
}

// Tries one after the other. An address that is silent leaves time for the rest.
Task<std::string_view> connect_any(std::shared_ptr<Connection> connection, Target target,
                                   Addresses addresses) {
  const auto until = std::chrono::steady_clock::now() + kTriesTimeout;
  boost::system::error_code ignored;
  for (size_t i = 0; i < addresses.size(); ++i) {
    // The rule may have been withdrawn, or the sandbox ended, meanwhile.
    if (connection->ended || !connection->sandbox->policy().allows(target)) co_return "ended";
    connection->upstream.close(ignored);
    const auto left = until - std::chrono::steady_clock::now();
    const bool is_last = i + 1 == addresses.size();
    auto trying = with_timeout(is_last ? left : kTryTimeout,
                               connects(*connection, {addresses[i], target.port}));
    const std::optional<bool> connected = co_await std::move(trying);
    if (connection->ended) co_return "ended";
    if (!connected.value_or(false)) continue;
    set_up(connection->upstream);
    set_up(connection->client);
    if (connection->sandbox->has_limited_buffers()) connection->set_buffers(true);
    co_return "";
  }
  connection->upstream.close(ignored);
  co_return "unreachable";
}

}  // namespace

Task<std::string_view> dial(std::shared_ptr<Connection> connection, Target target) {
  EgressSandbox& sandbox = *connection->sandbox;
  connection->set_idle_timeout(kDialTimeout);
  auto looking = addresses_of(sandbox, target);
  const std::optional<Addresses> found = co_await std::move(looking);
  if (connection->ended) co_return "ended";
  if (!found) co_return "no_answer";
  if (found->empty()) co_return "no_such_name";
  Addresses reachable = sandbox.services().address_policy.choose(*found, kMaxTries);
  if (reachable.empty()) co_return "private_address";
  connection->set_idle_timeout(kDialTimeout);
  auto connecting = connect_any(connection, std::move(target), std::move(reachable));
  co_return co_await std::move(connecting);
}

}  // namespace sandgate::egress
