#pragma once
#include <ifaddrs.h>

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

namespace sandgate::egress {

// The addresses of this machine's interfaces, as they are when this is made.
class OwnAddresses {
 public:
  OwnAddresses();
  // Also true when they could not be listed.
  bool contain(const boost::asio::ip::address& address) const;

 private:
  std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list_;
};

// The addresses that may be connected to, regardless of names and rules: public addresses except
// this machine's own, and the blocks that the operator configured.
class AddressPolicy {
 public:
  AddressPolicy() = default;
  // Blocks as "10.1.0.0/16" or "fd00::/8". Throws Error(invalid).
  explicit AddressPolicy(const std::vector<std::string>& private_cidrs);

  // The first `most` of the addresses that may be connected to. Looks at 32 only, because the owner
  // of a name chooses how many it has.
  std::vector<boost::asio::ip::address> choose(const std::vector<boost::asio::ip::address>& from,
                                               size_t most) const;

 private:
  bool allows(const boost::asio::ip::address& address, const OwnAddresses& own) const;
  bool named(const boost::asio::ip::address& address) const;

  std::vector<boost::asio::ip::network_v4> v4_;
  std::vector<boost::asio::ip::network_v6> v6_;
};

}  // namespace sandgate::egress
