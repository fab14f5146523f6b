#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/secret.hpp"

namespace sandgate {

// Creates an API key's secret: "sg_" and 40 hexadecimal digits (160 random bits). "e2b_" with the
// same digits is the same secret, so only the digits are hashed.
Secret make_api_secret();
// SHA-256 of the digits, in hex; empty when the text does not have that form.
std::optional<std::string> api_secret_hash(std::string_view text);
// The same for the operator key of the environment, which may be any text: a key without that form
// is hashed as a whole.
std::string operator_secret_hash(std::string_view text);

}  // namespace sandgate
