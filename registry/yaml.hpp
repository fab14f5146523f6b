#pragma once
#include <string_view>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Reads one YAML document as JSON: core schema (only true/false are booleans, "no" is a text),
// aliases copied. Hostile text is bounded: nesting at most 64, at most so many nodes (keys are
// some) after aliases. Throws Error(invalid) with line and column for: bad YAML or UTF-8, a second
// document, duplicate or non-scalar keys, tags other than the standard ones, .inf and .nan, aliases
// of unfinished nodes.
Json yaml_to_json(std::string_view text, size_t max_nodes = 50'000);

}  // namespace sandgate
