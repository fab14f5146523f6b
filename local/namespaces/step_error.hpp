#pragma once
#include <cerrno>
#include <stdexcept>
#include <string>

#include "gateway/core/fd.hpp"

namespace sandgate {

// A failed step in the setup of a sandbox; what() names the step, `number` is the errno.
struct StepError : std::runtime_error {
  StepError(const std::string& step, int number) : std::runtime_error(step), number(number) {}
  int number;
};

// Returns the result of a system call; throws StepError with errno when it is negative.
template <class T>
T check(T result, const char* step) {
  if (result < 0) throw StepError(step, errno);
  return result;
}

inline Fd check_fd(int fd, const char* step) { return Fd(check(fd, step)); }

}  // namespace sandgate
