#include "providers/transport/upstream_socket.hpp"

#include "gateway/core/number_text.hpp"
#include "providers/address_rules.hpp"
#include "providers/transport/async_resolver.hpp"

namespace sandgate {

Task<asio::ip::tcp::socket> connect_upstream(std::string host, std::string port,
                                             bool allow_private) {
  using asio::ip::tcp;
  const auto number = number_from<uint16_t>(port);
  if (!number) throw Error(ErrorCode::unavailable, "the backend has no such port");
  auto looking = AsyncResolver::shared().find(std::move(host), allow_private);
  const auto found = co_await std::move(looking);
  if (found.empty()) throw Error(ErrorCode::unavailable, "the backend's name is unknown");
  std::vector<tcp::endpoint> endpoints;
  for (const auto& address : found)
    if (const tcp::endpoint one(address, *number); allow_private || is_public_address(*one.data()))
      endpoints.push_back(one);
  if (endpoints.empty())
    throw Error(ErrorCode::unavailable, "the backend's address is not a public one");
  tcp::socket socket(co_await asio::this_coro::executor);
  boost::system::error_code failure;
  co_await asio::async_connect(socket, endpoints,
                               asio::redirect_error(asio::use_awaitable, failure));
  if (failure == asio::error::operation_aborted) throw boost::system::system_error(failure);
  if (failure)
    throw Error(ErrorCode::unavailable, "the backend cannot be reached: " + failure.message());
  socket.set_option(tcp::no_delay(true), failure);
  co_return socket;
}

}  // namespace sandgate
