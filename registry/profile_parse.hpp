#pragma once
#include <string>
#include <string_view>

#include "gateway/core/json_reader.hpp"
#include "registry/profile.hpp"

namespace sandgate {

inline constexpr size_t kMaxProfileBytes = 256 * 1024;

// Reads a profile document. Throws one Error(invalid) that lists every problem with its JSON
// Pointer: unknown fields, wrong types, values out of range, and fields that contradict each other.
// `name` may be left out when `expected_name` is given; when both are there they must agree.
Profile parse_profile(const Json& document, std::string_view expected_name = "");

// The same from the text of a new version, which may give a host at most 8 secrets; yaml_to_json()
// reads YAML (1.2, core schema). Throws Error(too_large) beyond kMaxProfileBytes.
Profile parse_profile_json(std::string_view text, std::string_view expected_name = "");
Profile parse_profile_yaml(std::string_view text, std::string_view expected_name = "");

}  // namespace sandgate
