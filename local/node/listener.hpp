#pragma once
#include <sys/types.h>

#include <string>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// A listening unix stream socket at directory/name that only `owner` and root may connect to.
// Paths longer than a socket address holds are fine. Replaces a socket left behind.
// Throws StepError.
Fd listen_on(const std::string& directory, const std::string& name, uid_t owner);

}  // namespace sandgate
