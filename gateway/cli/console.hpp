#pragma once
#include <ostream>
#include <string>
#include <string_view>

namespace sandgate::cli {

enum class Style { bold, dim, green, yellow, red };

// Where a command writes. Colours and aligned tables are for terminals only; a pipe gets plain
// text, one record a line, members separated by tabs.
class Console {
 public:
  // `terminal`, `error_terminal`: whether those streams are terminals that want colours.
  Console(std::ostream& out, std::ostream& err, bool terminal, bool error_terminal)
      : out(out), err(err), terminal(terminal), error_terminal(error_terminal) {}
  // Standard output and error; NO_COLOR and TERM=dumb are honoured.
  static Console standard();

  // The text in that style on a terminal, unchanged elsewhere.
  std::string styled(std::string_view text, Style style) const;

  std::ostream& out;
  std::ostream& err;
  const bool terminal;
  const bool error_terminal;
};

// Text from a server, without the control characters that could drive a terminal.
std::string printable(std::string_view text);

// Columns that text takes on a terminal: code points of UTF-8.
size_t width_of(std::string_view text);

}  // namespace sandgate::cli
