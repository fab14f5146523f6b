#include "gateway/cli/terminal/console.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

bool wants_colours() {
  const char* term = std::getenv("TERM");
  return !std::getenv("NO_COLOR") && !(term && std::string_view(term) == "dumb");
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::bold:
      return "1";
    case Style::dim:
      return "2";
    case Style::green:
      return "32";
    case Style::yellow:
      return "33";
    case Style::red:
      return "31";
  }
  return "0";
}

}  // namespace

Console Console::standard() {
  return Console(std::cout, std::cerr, isatty(STDOUT_FILENO) != 0, isatty(STDERR_FILENO) != 0,
                 wants_colours());
}

std::string Console::styled(std::string_view text, Style style) const {
  if (!terminal || !coloured) return std::string(text);
  return "\x1b[" + std::string(code_of(style)) + "m" + std::string(text) + "\x1b[0m";
}

std::string Console::styled_error(std::string_view text) const {
  if (!error_terminal || !coloured) return std::string(text);
  return "\x1b[31m" + std::string(text) + "\x1b[0m";
}

void write_out(std::ostream& stream, std::string_view bytes) {
  const bool lost_before = !stream;
  stream.clear();  // or flushing would not tell why
  errno = 0;
  stream << bytes << std::flush;
  if (stream && !lost_before) return;
  const int why = errno;
  stream.clear();
  if (why == EPIPE) note_broken_pipe();
  throw Error(ErrorCode::quota_exceeded,
              std::string("cannot write all of the output: ") +
                  (why == 0 ? "some of it was lost" : std::strerror(why)));
}

std::string printable(std::string_view text) {
  std::string clean;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
    // U+0080 to U+009F: among them one that begins a sequence as ESC [ does.
    const bool second_set = byte(i) == 0xC2 && i + 1 < text.size() && (byte(i + 1) & 0xE0) == 0x80;
    clean += second_set || byte(i) < 0x20 || byte(i) == 0x7f ? ' ' : text[i];
    if (second_set) ++i;
  }
  return clean;
}

size_t width_of(std::string_view text) {
  size_t width = 0;
  for (const unsigned char c : text) width += (c & 0xC0) != 0x80;
  return width;
}

}  // namespace sandgate::cli
