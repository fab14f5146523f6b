#include "gateway/core/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace sandgate {

void occupy_standard_descriptors() {
  for (const int place : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(place, F_GETFD) >= 0) continue;
    // The lowest free number is this place.
    const int opened = open("/dev/null", place == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != place) std::abort();
  }
}

}  // namespace sandgate
