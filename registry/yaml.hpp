#pragma once
#include <string_view>

#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Parses one YAML document into JSON by the core schema (only true and false are booleans, "no" is
// text); aliases are copied. Bounded for untrusted text: nesting at most 64, at most `max_nodes`
// nodes, keys included, after aliases are expanded. Throws Error(invalid) with line and column for:
// bad YAML or UTF-8, a second document, duplicate or non-scalar keys, tags other than the standard
// ones, .inf and .nan, aliases of unfinished nodes.
Json yaml_to_json(std::string_view text, size_t max_nodes = 50'000);

}  // namespace sandgate
