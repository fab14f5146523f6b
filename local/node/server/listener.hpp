#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

#include "gateway/core/fd.hpp"

namespace sandgate {

// Creates a listening unix stream socket at directory/name that only `owner` and root may connect
// to. `directory` may be longer than a socket address. Replaces an existing socket. Throws
// StepError.
Fd listen_on(const std::string& directory, const std::string& name, uid_t owner);

// Returns a pidfd of the process that answers `question` at the socket directory/name, according to
// the credentials that the kernel attaches to the answer. Empty when no answer comes within two
// seconds. Throws StepError.
Fd open_server_of(const std::string& directory, const std::string& name, std::string_view question);

}  // namespace sandgate
