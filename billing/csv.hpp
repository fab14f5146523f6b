#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sandgate {

// The rows of a CSV text (RFC 4180, either line end, a byte order mark at its front): quoted fields
// may hold commas, line ends and doubled quotes. Empty lines are none. Throws Error(invalid) for a
// quote that does not end or stands inside a field.
std::vector<std::vector<std::string>> read_csv(std::string_view text);

}  // namespace sandgate
