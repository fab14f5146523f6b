#pragma once
#include <ostream>
#include <string>
#include <string_view>

namespace sandgate::cli {

enum class Style { bold, dim, green, yellow, red };

// The output streams of a command. Terminals get colours and aligned tables. Pipes get plain text
// with one record per line and tabs between members.
class Console {
 public:
  // `terminal` and `error_terminal`: whether the stream is a terminal; `coloured`: whether
  // terminals are to get colours.
  Console(std::ostream& out, std::ostream& err, bool terminal, bool error_terminal,
          bool coloured = true)
      : out(out),
        err(err),
        terminal(terminal),
        error_terminal(error_terminal),
        coloured(coloured) {}
  // Standard output and error. NO_COLOR and TERM=dumb take the colours away.
  static Console standard();

  // Returns the text in that style for a coloured terminal, otherwise unchanged.
  std::string styled(std::string_view text, Style style) const;
  // Likewise for the error stream, in red.
  std::string styled_error(std::string_view text) const;

  std::ostream& out;
  std::ostream& err;
  const bool terminal;
  const bool error_terminal;
  const bool coloured;
};

// Writes the bytes and what is buffered before them. Throws Error(quota_exceeded) with the reason
// if not everything written to the stream so far has arrived. A reader that has gone counts as an
// interrupt, too.
void write_out(std::ostream& stream, std::string_view bytes);

// Replaces characters in a server's text that could control the terminal, or show the rest of the
// line in another order.
std::string printable(std::string_view text);

// The width of a text on a terminal, counted as UTF-8 code points.
size_t width_of(std::string_view text);

}  // namespace sandgate::cli
