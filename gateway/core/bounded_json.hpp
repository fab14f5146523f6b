#pragma once
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// How many values a tenant's JSON may hold: reading them takes an event loop some milliseconds.
// Every member and every item is one, and so is what holds them.
constexpr size_t kValuesOfARequest = 16'384;

// As parse_json(), and Error(invalid) as soon as there are more values. Takes time that grows with
// the text, whatever is in it.
Json parse_bounded_json(std::string_view text, size_t max_values = kValuesOfARequest);

}  // namespace sandgate
