#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate {

using HostAddresses = std::vector<asio::ip::address>;

// Resolves a name with the system resolver. Returns no addresses if the name has none, and nothing
// if that is unknown, because no name server answered or one failed. Blocks for as long as the
// resolver takes and cannot be cancelled.
std::optional<HostAddresses> host_addresses(const std::string& host);

}  // namespace sandgate
