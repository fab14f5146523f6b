#pragma once
#include "gateway/cli/client.hpp"

namespace sandgate::cli {

// Creates a sandbox and returns it. Call after catch_interrupts(): an interrupt before the id is
// known would leave the sandbox running until its time to live is over, so the first one is only
// noted, and told on standard error. A second one ends the wait with Error(timeout).
Json create_patiently(const Client& client, Json body);

}  // namespace sandgate::cli
