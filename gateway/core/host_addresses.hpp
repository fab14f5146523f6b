#pragma once
#include <string>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate {

using HostAddresses = std::vector<asio::ip::address>;

// Resolves a name with the system resolver; empty if the resolver fails. Blocks for as long as the
// resolver takes and cannot be cancelled.
HostAddresses host_addresses(const std::string& host);

}  // namespace sandgate
