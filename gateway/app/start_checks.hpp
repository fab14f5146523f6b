#pragma once
#include "gateway/config/config.hpp"
#include "gateway/supervisor/account.hpp"

namespace sandgate {

// What of the settings this machine cannot fulfil, found before anything is made: programs, files,
// directories, the address to listen on, the master key. `account` is who runs the gateway. Throws
// Error(invalid) with each setting's path, what is wrong and what to do.
void check_start(const Config& config, const SystemAccount& account);

}  // namespace sandgate
