#pragma once
#include <string>

#include "gateway/config/config.hpp"
#include "gateway/supervisor/child.hpp"

namespace sandgate {

// A PostgreSQL cluster of Sandgate's own: data and unix socket under $home/postgres, no TCP, owned
// by an unprivileged account. Same server and SQL as an external one.
//
// Creates the cluster when it is not there yet (a crash half-way leaves nothing that looks
// finished), stops a server that a killed supervisor left, and returns how to run it. Throws
// Error(unavailable) that says what is missing and how to get it.
ChildSpec prepare_embedded_postgres(const Config& config, const SystemAccount& account);

}  // namespace sandgate
