#include "gateway/core/standard_descriptors.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace sandgate {
namespace {

// What a process ends with that was started without the three.
int without_any(const std::function<bool()>& holds) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (const int place : {0, 1, 2}) close(place);
    occupy_standard_descriptors();
    _exit(holds() ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

TEST(StandardDescriptors, NothingElseTakesTheirPlaces) {
  EXPECT_EQ(without_any([] { return open("/dev/null", O_RDWR) > 2; }), 0);
}

TEST(StandardDescriptors, UsingThemFailsAsBefore) {
  EXPECT_EQ(without_any([] {
              char byte = 0;
              const bool unread = read(0, &byte, 1) < 0 && errno == EBADF;
              return unread && write(1, "x", 1) < 0 && errno == EBADF && write(2, "x", 1) < 0;
            }),
            0);
}

TEST(StandardDescriptors, ThoseThatAreThereStay) {
  EXPECT_EQ(without_any([] {
              close(1);
              if (open("/dev/null", O_WRONLY) != 1) return false;
              occupy_standard_descriptors();
              return write(1, "x", 1) == 1;
            }),
            0);
}

}  // namespace
}  // namespace sandgate
