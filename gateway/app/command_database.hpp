#pragma once
#include <memory>

#include "gateway/config/config.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// The database of the settings, with one connection, for a command that ends with its work. Waits
// for a connection first: throws Error(unavailable) that says why there is none and what to do.
std::unique_ptr<Database> command_database(const Config& config);

}  // namespace sandgate
