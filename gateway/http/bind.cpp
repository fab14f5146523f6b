#include "gateway/http/bind.hpp"

#include <thread>

namespace sandgate::http {
namespace {

using asio::ip::tcp;

constexpr std::chrono::milliseconds kPause{100};

tcp::endpoint endpoint_of(const std::string& address, uint16_t port) {
  boost::system::error_code failure;
  const auto ip = asio::ip::make_address(address == "localhost" ? "127.0.0.1" : address, failure);
  if (failure)
    throw Error(ErrorCode::invalid,
                "cannot listen on '" + address + "': give an IP address such as 127.0.0.1");
  return {ip, port};
}

std::string advice(const boost::system::error_code& failure) {
  if (failure == asio::error::address_in_use)
    return "another program has the port: stop it ('ss -ltnp' names it) or choose another port";
  if (failure == asio::error::access_denied)
    return "ports below 1024 need the capability CAP_NET_BIND_SERVICE: choose a higher port";
  if (failure == boost::system::errc::address_not_available)
    return "this machine does not have the address: choose one of its own";
  return failure.message();
}

}  // namespace

tcp::acceptor bind_listener(asio::io_context& loop, const std::string& address, uint16_t port,
                            std::chrono::milliseconds patience) {
  const auto endpoint = endpoint_of(address, port);
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    tcp::acceptor acceptor(loop);
    boost::system::error_code failure;
    acceptor.open(endpoint.protocol(), failure);
    if (!failure) acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) acceptor.bind(endpoint, failure);
    if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
    if (!failure) return acceptor;
    const bool again =
        failure == asio::error::address_in_use && std::chrono::steady_clock::now() + kPause < until;
    if (!again)
      throw Error(ErrorCode::unavailable, "cannot listen on " + address + ":" +
                                              std::to_string(port) + ": " + advice(failure));
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace sandgate::http
