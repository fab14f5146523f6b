#pragma once
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

// Moments as people write them.
namespace sandgate {

// An RFC 3339 time with any offset, or a date for its first moment in UTC; empty for anything else.
std::optional<Time> moment_from(std::string_view text);
// A member that is such a moment. What is none is empty and a problem of the reader's.
std::optional<Time> read_moment(ObjectReader& reader, std::string_view name);
// The first moment of the month (UTC) in which a span ends that goes up to `end`.
Time month_of_end(Time end);

}  // namespace sandgate
