#pragma once
#include <string>
#include <vector>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

namespace sandgate::egress {

// The addresses that may be connected to, regardless of names and rules: public addresses except
// this machine's own, and the blocks that the operator configured.
class Reachable {
 public:
  Reachable() = default;
  // Blocks as "10.1.0.0/16" or "fd00::/8". Throws Error(invalid).
  explicit Reachable(const std::vector<std::string>& private_cidrs);

  bool allows(const boost::asio::ip::address& address) const;

 private:
  bool named(const boost::asio::ip::address& address) const;

  std::vector<boost::asio::ip::network_v4> v4_;
  std::vector<boost::asio::ip::network_v6> v6_;
};

// Whether an interface of this machine has the address; true when interfaces cannot be listed.
bool is_own_address(const boost::asio::ip::address& address);

}  // namespace sandgate::egress
