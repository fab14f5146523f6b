#include "local/egress/address_policy.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include <boost/asio/ip/tcp.hpp>

#include "gateway/core/error.hpp"
#include "providers/address_rules.hpp"

namespace sandgate::egress {
namespace {

namespace net = boost::asio::ip;

constexpr size_t kMaxLookedAt = 32;

// Converts an IPv4-mapped IPv6 address to IPv4.
net::address unwrapped(const net::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return net::make_address_v4(net::v4_mapped, address.to_v6());
  return address;
}

template <class Network>
bool lies_in(const Network& block, const decltype(block.address())& address) {
  return Network(address, block.prefix_length()).canonical() == block;
}

}  // namespace

AddressPolicy::AddressPolicy(const std::vector<std::string>& private_cidrs) {
  for (const std::string& text : private_cidrs) {
    boost::system::error_code failure;
    if (const auto v4 = net::make_network_v4(text, failure); !failure) {
      v4_.push_back(v4.canonical());
      continue;
    }
    const auto v6 = net::make_network_v6(text, failure);
    if (failure) throw Error::invalid("/local/egress/private_cidrs", "'" + text + "' is no block");
    v6_.push_back(v6.canonical());
  }
}

bool AddressPolicy::named(const net::address& address) const {
  if (address.is_v4()) {
    return std::any_of(v4_.begin(), v4_.end(),
                       [&](const auto& block) { return lies_in(block, address.to_v4()); });
  }
  return std::any_of(v6_.begin(), v6_.end(),
                     [&](const auto& block) { return lies_in(block, address.to_v6()); });
}

bool AddressPolicy::allows(const net::address& address, const OwnAddresses& own) const {
  const net::address plain = unwrapped(address);
  if (named(plain)) return true;
  const net::tcp::endpoint endpoint(plain, 0);
  return is_public_address(*endpoint.data()) && !own.contain(plain);
}

std::vector<net::address> AddressPolicy::choose(const std::vector<net::address>& from,
                                                size_t most) const {
  const OwnAddresses own;
  std::vector<net::address> chosen;
  for (size_t i = 0; i < std::min(from.size(), kMaxLookedAt) && chosen.size() < most; ++i)
    if (allows(from[i], own)) chosen.push_back(from[i]);
  return chosen;
}

OwnAddresses::OwnAddresses() : list_(nullptr, freeifaddrs) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) list_.reset(list);
}

bool OwnAddresses::contain(const net::address& address) const {
  if (!list_) return true;
  for (const ifaddrs* one = list_.get(); one != nullptr; one = one->ifa_next) {
    if (!one->ifa_addr) continue;
    if (address.is_v4() && one->ifa_addr->sa_family == AF_INET) {
      sockaddr_in own;
      std::memcpy(&own, one->ifa_addr, sizeof own);
      if (ntohl(own.sin_addr.s_addr) == address.to_v4().to_uint()) return true;
    } else if (address.is_v6() && one->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 own;
      std::memcpy(&own, one->ifa_addr, sizeof own);
      if (std::memcmp(&own.sin6_addr, address.to_v6().to_bytes().data(), 16) == 0) return true;
    }
  }
  return false;
}

}  // namespace sandgate::egress
