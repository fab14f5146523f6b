#pragma once
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// The settings of a backend or a receiver that say where its secrets are sent: in all kinds those
// whose name is "domain" or ends in "url". Without nulls, and without slashes at their ends.
Json addresses_in(const Json& settings);

}  // namespace sandgate
