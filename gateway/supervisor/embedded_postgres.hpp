#pragma once
#include <string>

#include "gateway/config/config.hpp"
#include "gateway/supervisor/child.hpp"

namespace sandgate {

// Prepares the embedded PostgreSQL cluster: data and unix socket under $home/postgres, no TCP,
// owned by an unprivileged account. The same server and SQL as an external one.
//
// Creates the cluster if it is missing (an interrupted creation is started over), stops a server
// left by a killed supervisor, and returns how to run the server. Throws Error(unavailable) that
// says what is missing and how to get it.
ChildSpec prepare_embedded_postgres(const Config& config, const SystemAccount& account);

}  // namespace sandgate
