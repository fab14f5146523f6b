#pragma once
#include <string>
#include <vector>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

namespace sandgate::egress {

// Which addresses may really be dialled, whatever name led there and whatever a rule says: those
// of the public internet but this machine's own, and the blocks the operator named.
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

// Whether an interface of this machine has the address.
bool is_own_address(const boost::asio::ip::address& address);

}  // namespace sandgate::egress
