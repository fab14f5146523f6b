#pragma once
#include <functional>

#include "gateway/config/config.hpp"

namespace sandgate {

// `sandgate serve`: prepares directories and keys, then supervises the database (unless an
// external one is configured), the node (when this machine offers sandboxes) and the gateway
// itself, which runs as config.run_as. Returns the exit code; throws Error with one clear line
// when something that only an operator can fix is missing. At a SIGHUP `read_again` gives the
// configuration as it is then; what of it cannot be changed while it runs is named in the log, as
// is what is wrong with it.
int serve(const Config& config, const std::function<Config()>& read_again);

}  // namespace sandgate
