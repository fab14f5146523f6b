#pragma once
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Limit on the number of values in a tenant's JSON document; parsing that many takes an event loop
// a few milliseconds. Every member, item, object and array counts as one value.
constexpr size_t kValuesOfARequest = 16'384;

// Like parse_json(), but throws Error(invalid) as soon as the text holds more than `max_values`
// values. Takes time linear in the text's length for any input.
Json parse_bounded_json(std::string_view text, size_t max_values = kValuesOfARequest);

}  // namespace sandgate
