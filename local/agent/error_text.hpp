#pragma once
#include <string>

#include "gateway/core/error.hpp"

namespace sandgate::agent {

// The payload of an error's frame: {code, message, path?}, of its first field where it has any.
// At most kMaxPayload.
std::string error_text(const Error& error);

}  // namespace sandgate::agent
