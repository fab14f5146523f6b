#include "gateway/cli/terminal/raw_terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace sandgate::cli {

WindowSize window_size() {
  winsize size{};
  if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_col, size.ws_row};
}

RawTerminal::RawTerminal() {
  if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios raw = before_;
  cfmakeraw(&raw);
  active_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0;
}

RawTerminal::~RawTerminal() {
  if (active_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

}  // namespace sandgate::cli
