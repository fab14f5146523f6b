#pragma once
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

// Parsing of points in time as users write them.
namespace sandgate {

// Parses an RFC 3339 time with any offset, or a date as its midnight in UTC; empty otherwise.
std::optional<Time> moment_from(std::string_view text);
// Reads such a time from a member. Returns empty and records a problem if it is invalid.
std::optional<Time> read_moment(ObjectReader& reader, std::string_view name);
// Returns the first moment of the UTC month that contains the end of a span; `end` is exclusive.
Time month_of_end(Time end);

}  // namespace sandgate
