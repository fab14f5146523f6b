#include "local/agent/patience.hpp"

#include <poll.h>

#include <algorithm>

namespace sandgate::agent {

// The kernel's clock for poll() goes on while the process is frozen, hence the short waits.
bool is_readable_within(int file, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kStep{100};
  pollfd ready{file, POLLIN, 0};
  for (; limit.count() > 0; limit -= kStep)
    if (::poll(&ready, 1, static_cast<int>(std::min(limit, kStep).count())) == 1) return true;
  return false;
}

}  // namespace sandgate::agent
