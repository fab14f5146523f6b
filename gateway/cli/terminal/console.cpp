#include "gateway/cli/terminal/console.hpp"

#include <unistd.h>

#include <algorithm>
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

// The length of the character that the text begins with, if it could do more than be shown; else 0.
size_t disturbing(std::string_view text) {
  const auto byte = [&](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  // U+0080 to U+009F: among them one that begins a sequence as ESC [ does.
  if (byte(0) == 0xC2) return (byte(1) & 0xE0) == 0x80 ? 2 : 0;
  if (byte(0) != 0xE2) return 0;
  // U+2028 to U+202E and U+2066 to U+2069: they end the line, or turn round what comes after them
  // in it, which is then not what it seems to be.
  const bool ends_or_turns = byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE;
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  return ends_or_turns || isolates ? 3 : 0;
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
  while (!text.empty()) {
    const size_t length = disturbing(text);
    clean += length > 0 ? ' ' : text.front();
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return clean;
}

size_t width_of(std::string_view text) {
  size_t width = 0;
  for (const unsigned char c : text) width += (c & 0xC0) != 0x80;
  return width;
}

}  // namespace sandgate::cli
