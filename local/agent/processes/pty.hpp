#pragma once
#include <cstdint>
#include <string>

#include "local/agent/files/file.hpp"

namespace sandgate::agent {

struct Terminal {
  Fd master;  // non-blocking
  Fd slave;
};

// Opens a new pseudo-terminal of this size, owned by the given user. Throws Error.
Terminal open_terminal(uint16_t cols, uint16_t rows, uint32_t uid);
void resize_terminal(int master, uint16_t cols, uint16_t rows);  // throws Error
// Whether what is typed is handed over by lines, not by single characters.
bool reads_lines(int master);
// What ends the input when it is typed (^D unless the program changed it), at the beginning of a
// line or within one.
std::string end_of_input(int master, bool line_is_begun);

}  // namespace sandgate::agent
