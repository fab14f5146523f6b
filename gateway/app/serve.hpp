#pragma once
#include <functional>

#include "gateway/config/config.hpp"

namespace sandgate {

// `sandgate serve`: prepares directories and keys, then supervises the database (unless an external
// one is configured), the node (if local sandboxes are enabled) and the gateway, which runs as
// config.run_as. Returns the exit code. Throws an Error with one clear line if only an operator can
// fix the problem; with a log in JSON, logs it and returns 1. On SIGHUP calls `read_again` for the
// current configuration; logs its errors and the settings that need a restart.
int serve(const Config& config, const std::function<Config()>& read_again);

}  // namespace sandgate
