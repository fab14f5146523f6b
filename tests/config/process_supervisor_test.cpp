#include "gateway/supervisor/process_supervisor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/run.hpp"

namespace sandgate {
namespace {

ChildSpec script(const std::string& name, const std::string& lines, bool reloads) {
  ChildSpec spec;
  spec.name = name;
  spec.argv = {"/bin/sh", "-c", lines};
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.account = current_account();
  spec.reloads = reloads;
  return spec;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool becomes(const std::string& path, const std::string& wanted) {
  for (int i = 0; i < 100 && text_of(path) != wanted; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return text_of(path) == wanted;
}

TEST(ProcessSupervisor, AHangupReachesThoseThatReloadAndEndsNobody) {
  const test::TempDirectory directory;
  const std::string plain = directory.path() + "/plain",
                    reloading = directory.path() + "/reloading";
  const pid_t supervisor = fork();
  if (supervisor == 0) {
    ProcessSupervisor processes;
    processes.add(script("plain", "echo start >> " + plain + "; exec sleep 60", false),
                  std::chrono::seconds(5));
    processes.add(script("reloading",
                         "trap 'echo hup >> " + reloading + "' HUP; echo start >> " + reloading +
                             "; while :; do sleep 0.05; done",
                         true),
                  std::chrono::seconds(5));
    _exit(processes.run());
  }
  EXPECT_TRUE(becomes(plain, "start\n"));
  EXPECT_TRUE(becomes(reloading, "start\n"));
  kill(supervisor, SIGHUP);
  EXPECT_TRUE(becomes(reloading, "start\nhup\n"));
  // Time enough for a program that ended to be started again.
  EXPECT_FALSE(becomes(plain, "start\nstart\n"));
  kill(supervisor, SIGTERM);
  int status = 0;
  waitpid(supervisor, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sandgate
