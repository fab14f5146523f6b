#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sandgate {

// Parses CSV (RFC 4180; lines end in LF, CR or CRLF; a leading byte order mark is skipped) into
// rows. Quoted fields may hold commas, line ends and doubled quotes. Empty lines are skipped.
// Throws Error(invalid) for a quote that does not end or stands inside a field.
std::vector<std::vector<std::string>> read_csv(std::string_view text);

// A field as written: quoted when needed (RFC 4180), and escaped where a spreadsheet would see a
// formula.
std::string csv_field(std::string_view text);
// A row of such fields with its line end.
std::string csv_row(const std::vector<std::string>& fields);

}  // namespace sandgate
