#pragma once
#include <cstdint>

#include <termios.h>

namespace sandgate::cli {

struct WindowSize {
  uint16_t cols = 80, rows = 24;
};

// Of the terminal on standard input; 80 by 24 when there is none.
WindowSize window_size();

// While it lives, keys reach the program as they are typed: no echo, no line editing, no signals.
// Does nothing when standard input is no terminal.
class RawTerminal {
 public:
  RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  ~RawTerminal();

 private:
  bool active_ = false;
  termios before_{};
};

}  // namespace sandgate::cli
