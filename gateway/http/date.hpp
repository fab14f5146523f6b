#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/time.hpp"

namespace sandgate::http {

// Parses a date in any of the three formats that RFC 9110, 5.6.7 tells recipients to accept. Empty
// if it is none. A year of two digits is the latest one that is at most 50 years after `now`.
std::optional<Time> date_from(std::string_view text, Time now);

// The format that RFC 9110, 5.6.7 has senders use. Fractions of a second are cut off; its
// years have four digits, so what was before the year 1000 is its first moment.
std::string date_text(Time at);

}  // namespace sandgate::http
