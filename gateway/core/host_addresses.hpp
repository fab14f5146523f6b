#pragma once
#include <string>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate {

using HostAddresses = std::vector<asio::ip::address>;

// What this machine's resolver says of a name; empty when there is no such name. Blocks for as long
// as whoever answers for the name likes, and cannot be called off.
HostAddresses host_addresses(const std::string& host);

}  // namespace sandgate
