#pragma once
#include <string>
#include <string_view>

struct sockaddr;

namespace sandgate {

// Whether an address is on the public internet: not loopback, private, link-local (clouds' metadata
// services), shared, documentation, multicast or reserved. An IPv4 address embedded in an IPv6 one
// (mapped, NAT64, 6to4) is checked as well.
bool is_public_address(const sockaddr& address);
// The same for an address as text; false if it is not an address.
bool is_public_address(std::string_view text);

// Whether a URL's host is "localhost" or a non-public address, also one written as resolvers read
// it ("127.1", "0x7f000001", "2130706433"); false for other names.
bool names_private_address(std::string_view url);

// Whether a text is a port that can be connected to, from 1 to 65535. To be asked of a URL's port
// as text: port_number() of boost::urls is a part of the number where it is too large.
bool is_port(std::string_view text);

}  // namespace sandgate
