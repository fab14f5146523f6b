#pragma once
#include <cstdint>

#include <termios.h>

namespace sandgate::cli {

struct WindowSize {
  uint16_t cols = 80, rows = 24;
};

// The size of the terminal on standard input; 80 by 24 without one.
WindowSize window_size();

// Puts the terminal into raw mode during its life: no echo, line editing or signals from keys. Does
// nothing if standard input is not a terminal.
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
