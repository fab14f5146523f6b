#pragma once
#include "gateway/config/config.hpp"

namespace sandgate {

// `sandgate serve`: prepares directories and keys, then supervises the database (unless an
// external one is configured), the node (when this machine offers sandboxes) and the gateway
// itself, which runs as config.run_as. Returns the exit code; throws Error with one clear line
// when something that only an operator can fix is missing.
int serve(const Config& config);

}  // namespace sandgate
