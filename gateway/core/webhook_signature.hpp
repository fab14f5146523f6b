#pragma once
#include <string>
#include <string_view>

#include "gateway/core/secret.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// The value of the header Sandgate-Signature of a body sent at `at`:
// "t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">".
std::string webhook_signature(const Secret& secret, Time at, std::string_view body);

}  // namespace sandgate
