#pragma once
#include "gateway/config/config.hpp"
#include "gateway/supervisor/account.hpp"

namespace sandgate {

// Checks, before anything is created, whether this machine can fulfil the settings: programs,
// files, directories, the listening address, the master key. `account` runs the gateway. Throws
// Error(invalid) that lists each wrong setting's path, problem and remedy.
void check_start(const Config& config, const SystemAccount& account);

}  // namespace sandgate
