#pragma once
#include <cstdint>

#include "gateway/config/config.hpp"

namespace sandgate {

// How many of the wanted client connections each of `listeners` may hold, when the process may have
// `files` open. The rest of those is for everything else: a quarter for what requests in progress
// open, such as sandboxes' agents and vendors, and 512, or half of few, for the database, the node
// and connections that are being refused.
int64_t connections_within(uint64_t files, int64_t wanted, int64_t listeners);

// Lowers limits.connections to what this process's limit of open files leaves, with a warning:
// clients who only wait could otherwise take the last one, and with it the whole gateway.
void fit_connections(Config& config);

}  // namespace sandgate
