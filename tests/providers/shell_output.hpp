#pragma once
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace sandgate::test {

struct ShellOutput {
  int status = 0;  // 128+n when signalled
  std::string out;
};

// What a line prints through the shell of this machine, as a backend would run it.
inline ShellOutput shell_output(const std::string& line) {
  FILE* pipe = popen(line.c_str(), "r");
  ShellOutput result;
  std::array<char, 4096> piece;
  while (const size_t count = fread(piece.data(), 1, piece.size(), pipe))
    result.out.append(piece.data(), count);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace sandgate::test
