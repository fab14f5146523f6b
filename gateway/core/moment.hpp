#pragma once
#include <utility>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

// Points in time and months as users write them.
namespace sandgate {

// Parses an RFC 3339 time with any offset, or a date as its midnight in UTC; empty otherwise.
std::optional<Time> moment_from(std::string_view text);
inline constexpr const char* kMomentRule = "must be an RFC 3339 time or a date";
// Reads such a time from a member. Returns empty and records a problem if it is invalid.
std::optional<Time> read_moment(ObjectReader& reader, std::string_view name);

// The first moment of the month (UTC) that contains `at`, and of the month after.
std::pair<Time, Time> month_around(Time at);
// The same of a month such as "2026-10"; empty for other text and for a month that ends later than
// RFC 3339 can write.
std::optional<std::pair<Time, Time>> month_from(std::string_view text);
inline constexpr const char* kMonthRule = "must be a month, such as \"2026-10\"";
// Returns the first moment of the UTC month that contains the end of a span; `end` is exclusive.
Time month_of_end(Time end);

}  // namespace sandgate
