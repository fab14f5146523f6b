#pragma once
#include <string>
#include <string_view>

struct sockaddr;

namespace sandgate {

// Whether an address is one of the public internet: not loopback, private, link-local (which
// holds the clouds' metadata services), shared, documentation, multicast or reserved, also when
// such an IPv4 address is written inside an IPv6 one (mapped, NAT64, 6to4).
bool is_public_address(const sockaddr& address);
// The same for an address as text; false when it is none.
bool is_public_address(std::string_view text);

// Whether a URL's host is "localhost" or an address that is not public; false for names.
bool names_private_address(std::string_view url);

}  // namespace sandgate
