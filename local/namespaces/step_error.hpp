#pragma once
#include <cerrno>
#include <stdexcept>
#include <string>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// A kernel call that failed while a sandbox was being set up: which step, and its errno.
struct StepError : std::runtime_error {
  StepError(const std::string& step, int number) : std::runtime_error(step), number(number) {}
  int number;
};

// The value of a system call, or a StepError with its errno.
template <class T>
T check(T result, const char* step) {
  if (result < 0) throw StepError(step, errno);
  return result;
}

inline Fd check_fd(int fd, const char* step) { return Fd(check(fd, step)); }

}  // namespace sandgate
