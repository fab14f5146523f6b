#pragma once
#include <chrono>

namespace sandgate::shell {

// How long a line of ShellProvider::run() may run, and how long its answer may take where it comes
// at the line's end.
inline constexpr std::chrono::seconds kLineTime{60}, kLineAnswer{70};

}  // namespace sandgate::shell
