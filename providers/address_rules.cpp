#include "providers/address_rules.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <boost/url.hpp>

#include "gateway/core/field_text.hpp"
#include "gateway/core/number_text.hpp"

namespace sandgate {
namespace {

struct Range {
  uint32_t base;
  int bits;
};

// IANA's IPv4 special-purpose registry, multicast and class E, and a public address at which a
// cloud serves each of its machines.
constexpr Range kSpecial[] = {
    {0x00000000, 8},  // 0.0.0.0/8
    {0x0A000000, 8},  // 10/8
    {0x64400000, 10},  // 100.64/10
    {0x7F000000, 8},  // 127/8
    {0xA83F8110, 32},  // 168.63.129.16, Azure's platform
    {0xA9FE0000, 16},  // 169.254/16
    {0xAC100000, 12},  // 172.16/12
    {0xC0000000, 24},  // 192.0.0/24
    {0xC0000200, 24},  // 192.0.2/24
    {0xC0586300, 24},  // 192.88.99/24
    {0xC0A80000, 16},  // 192.168/16
    {0xC6120000, 15},  // 198.18/15
    {0xC6336400, 24},  // 198.51.100/24
    {0xCB007100, 24},  // 203.0.113/24
    {0xE0000000, 3},  // 224/3
};

bool is_public_v4(uint32_t address) {
  for (const auto& range : kSpecial)
    if ((address ^ range.base) >> (32 - range.bits) == 0) return false;
  return true;
}

uint32_t word_at(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

bool is_public_v6(const uint8_t* bytes) {
  constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  constexpr std::array<uint8_t, 12> kNat64{0, 0x64, 0xFF, 0x9B};
  if (std::memcmp(bytes, kMapped.data(), 12) == 0 || std::memcmp(bytes, kNat64.data(), 12) == 0)
    return is_public_v4(word_at(bytes + 12));
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_public_v4(word_at(bytes + 2));  // 6to4
  const uint32_t first = word_at(bytes);
  // Only 2000::/3 is global unicast; 2001::/23 is for protocols, 2001:db8::/32 and 3fff::/20 for
  // documentation.
  return (first >> 29) == 1 && (first >> 9) != (0x20010000u >> 9) && first != 0x20010DB8u &&
         (first >> 12) != (0x3FFF0000u >> 12);
}

}  // namespace

bool is_public_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof(v4));
    return is_public_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof(v6));
    return is_public_v6(v6.sin6_addr.s6_addr);
  }
  return false;
}

bool is_public_address(std::string_view text) {
  const std::string literal(text.substr(0, text.find('%')));
  in_addr v4;
  if (inet_pton(AF_INET, literal.c_str(), &v4) == 1) return is_public_v4(ntohl(v4.s_addr));
  in6_addr v6;
  return inet_pton(AF_INET6, literal.c_str(), &v6) == 1 && is_public_v6(v6.s6_addr);
}

bool names_private_address(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed) return false;
  std::string host = ascii_lower(parsed->host_address());
  if (host.ends_with('.')) host.pop_back();
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (in_addr v4; inet_aton(host.c_str(), &v4) != 0) return !is_public_v4(ntohl(v4.s_addr));
  return host.find(':') != host.npos && !is_public_address(host);
}

bool is_port(std::string_view text) { return number_from<uint16_t>(text).value_or(0) != 0; }

}  // namespace sandgate
