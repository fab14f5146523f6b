#include "local/egress/dial.hpp"

#include <netdb.h>

#include <cstring>

namespace sandgate::egress {
namespace {

using Addresses = std::vector<asio::ip::address>;

constexpr int kMaxLookups = 4;
constexpr size_t kMaxTries = 4;
constexpr std::chrono::seconds kDialPatience{20};
constexpr std::chrono::milliseconds kLookupPause{10};

Addresses look_up(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  Addresses found;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (one->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), one->ai_addr, one->ai_addrlen);
    endpoint.resize(one->ai_addrlen);
    found.push_back(endpoint.address());
  }
  return found;
}

// How far a sandbox may get with lookups that do not end.
struct Lookup {
  explicit Lookup(Box& box) : box(box) { ++box.resolving; }
  ~Lookup() { --box.resolving; }
  Lookup(const Lookup&) = delete;
  Box& box;
};

Task<Addresses> addresses_of(Box& box, const Target& target) {
  if (!target.is_name()) {
    const bool v6 = target.host.starts_with('[');
    const std::string text = v6 ? target.host.substr(1, target.host.size() - 2) : target.host;
    boost::system::error_code failure;
    const auto address = asio::ip::make_address(text, failure);
    Addresses one;
    if (!failure) one.push_back(address);
    co_return one;
  }
  const Lookup lookup(box);
  auto work = [name = target.host] { return look_up(name); };
  auto looking = on_pool(box.around().resolvers, std::move(work));
  co_return co_await std::move(looking);
}

}  // namespace

Task<std::string_view> dial(std::shared_ptr<Connection> connection, Target target) {
  Box& box = *connection->box;
  connection->touch(kDialPatience);
  while (target.is_name() && box.resolving >= kMaxLookups && !connection->ended)
    co_await sleep_for(kLookupPause);
  if (connection->ended) co_return "ended";
  auto looking = addresses_of(box, target);
  const Addresses found = co_await std::move(looking);
  if (found.empty()) co_return "no_such_name";
  Addresses reachable;
  for (const auto& address : found)
    if (box.around().reachable.allows(address)) reachable.push_back(address);
  if (reachable.empty()) co_return "private_address";
  if (reachable.size() > kMaxTries) reachable.resize(kMaxTries);
  for (const auto& address : reachable) {
    // While names were looked up, the rule may have gone or the sandbox ended.
    if (connection->ended || !box.policy().allows(target)) co_return "ended";
    boost::system::error_code ignored;
    connection->upstream.close(ignored);
    const asio::ip::tcp::endpoint endpoint(address, target.port);
    auto [error] =
        co_await connection->upstream.async_connect(endpoint, asio::as_tuple(asio::use_awaitable));
    if (connection->ended) co_return "ended";
    if (!error) {
      connection->upstream.set_option(asio::ip::tcp::no_delay(true), ignored);
      connection->client.set_option(asio::ip::tcp::no_delay(true), ignored);
      co_return "";
    }
  }
  boost::system::error_code ignored;
  connection->upstream.close(ignored);
  co_return "unreachable";
}

}  // namespace sandgate::egress
