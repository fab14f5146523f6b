#include "local/egress/dial.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxTries = 4;
constexpr std::chrono::seconds kDialPatience{20};

Task<std::optional<Addresses>> addresses_of(Box& box, const Target& target) {
  if (!target.is_name()) {
    const bool v6 = target.host.starts_with('[');
    const std::string text = v6 ? target.host.substr(1, target.host.size() - 2) : target.host;
    boost::system::error_code failure;
    const auto address = asio::ip::make_address(text, failure);
    Addresses one;
    if (!failure) one.push_back(address);
    co_return one;
  }
  Lookups::Asker asker{box.tenant(), box.id()};
  auto looking = box.around().lookups.addresses_of(std::move(asker), target.host);
  co_return co_await std::move(looking);
}

}  // namespace

Task<std::string_view> dial(std::shared_ptr<Connection> connection, Target target) {
  Box& box = *connection->box;
  connection->touch(kDialPatience);
  auto looking = addresses_of(box, target);
  const std::optional<Addresses> found = co_await std::move(looking);
  if (connection->ended) co_return "ended";
  if (!found) co_return "no_answer";
  if (found->empty()) co_return "no_such_name";
  Addresses reachable;
  for (const auto& address : *found)
    if (box.around().reachable.allows(address)) reachable.push_back(address);
  if (reachable.empty()) co_return "private_address";
  if (reachable.size() > kMaxTries) reachable.resize(kMaxTries);
  for (const auto& address : reachable) {
    // The rule may have been withdrawn, or the sandbox ended, during the lookup.
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
