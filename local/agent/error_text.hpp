#pragma once
#include <string>

#include "gateway/core/error.hpp"

namespace sandgate::agent {

// The payload of an error frame: {code, message, path?}; message and path are those of the error's
// first field if it has one. At most kMaxPayload bytes.
std::string error_text(const Error& error);

}  // namespace sandgate::agent
