#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// A listening unix stream socket at directory/name that only `owner` and root may connect to.
// Paths longer than a socket address holds are fine. Replaces a socket left behind.
// Throws StepError.
Fd listen_on(const std::string& directory, const std::string& name, uid_t owner);

// The process that answers `question` at the socket directory/name, by the kernel's word and as a
// pidfd; none when nobody does within two seconds.
Fd open_server_of(const std::string& directory, const std::string& name, std::string_view question);

}  // namespace sandgate
