#include "gateway/supervisor/process_supervisor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "gateway/core/error.hpp"
#include "tests/support/eventually.hpp"
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
  return test::eventually([&] { return text_of(path) == wanted; }, std::chrono::seconds(30));
}

// Sends a signal that the process takes when it comes to it; true when it has. Of two that wait it
// would get one.
bool takes(pid_t process, int signal) {
  kill(process, signal);
  return test::eventually([&] {
    const std::string status = text_of("/proc/" + std::to_string(process) + "/status");
    const std::string field = "\nShdPnd:";
    const uint64_t pending = std::stoull(status.substr(status.find(field) + field.size()), {}, 16);
    return (pending >> (signal - 1) & 1) == 0;
  });
}

// Takes its settings and the signal as the worker does, and notes both.
ChildSpec listener(const std::string& notes, int late_ms = 0) {
  ChildSpec spec = script("listener", "", true);
  const std::string program = R"(
import os, signal, sys, time
def note(text):
    with open(sys.argv[1], "a") as file:
        file.write(text + "\n")
def settings():
    text = os.pread(3, 4096, 0).decode()
    os.ftruncate(3, 0)
    return text
note("start " + settings())
time.sleep(int(sys.argv[2]) / 1000)
while True:
    signal.sigwait([signal.SIGHUP])
    note("hup " + settings())
)";
  spec.argv = {"/usr/bin/python3", "-c", program, notes, std::to_string(late_ms)};
  spec.settings = "{1}";
  return spec;
}

// A supervisor in a process of its own, as it takes over signals and children.
template <class Prepare>
pid_t supervise(Prepare prepare) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  ProcessSupervisor processes;
  prepare(processes);
  try {
    _exit(processes.run());
  } catch (const Error&) {
    _exit(3);
  }
}

int end(pid_t supervisor) {
  kill(supervisor, SIGTERM);
  int status = 0;
  waitpid(supervisor, &status, 0);
  return status;
}

TEST(ProcessSupervisor, AHangupDuringAStartWaitsForWhoListens) {
  const test::TempDirectory directory;
  const std::string notes = directory.path() + "/notes";
  const pid_t supervisor = supervise([&](ProcessSupervisor& processes) {
    processes.add(listener(notes, 300), std::chrono::seconds(5));
  });
  EXPECT_TRUE(becomes(notes, "start {1}\n"));
  kill(supervisor, SIGHUP);
  EXPECT_TRUE(becomes(notes, "start {1}\nhup \n")) << text_of(notes);
  EXPECT_EQ(end(supervisor), 0);
}

TEST(ProcessSupervisor, ARenewalReachesThoseThatReload) {
  const test::TempDirectory directory;
  const std::string notes = directory.path() + "/notes";
  const pid_t supervisor = supervise([&](ProcessSupervisor& processes) {
    processes.add(listener(notes), std::chrono::seconds(5));
    processes.on_reload([n = 1]() mutable -> std::optional<ProcessSupervisor::Renewal> {
      if (++n == 3) return std::nullopt;
      return ProcessSupervisor::Renewal{"{" + std::to_string(n) + "}", std::chrono::seconds(5)};
    });
  });
  std::string expected = "start {1}\n";
  EXPECT_TRUE(becomes(notes, expected));
  for (const char* settings : {"{2}", "", "{4}"}) {
    kill(supervisor, SIGHUP);
    expected += std::string("hup ") + settings + "\n";
    EXPECT_TRUE(becomes(notes, expected)) << text_of(notes);
  }
  EXPECT_EQ(end(supervisor), 0);
}

// Two in a row: what has not been taken is not written over, and the last one counts in the end.
TEST(ProcessSupervisor, ARenewalWaitsForTheOneBefore) {
  const test::TempDirectory directory;
  const std::string notes = directory.path() + "/notes";
  const pid_t supervisor = supervise([&](ProcessSupervisor& processes) {
    processes.add(listener(notes, 500), std::chrono::seconds(5));
    processes.on_reload([n = 1]() mutable -> std::optional<ProcessSupervisor::Renewal> {
      return ProcessSupervisor::Renewal{"{" + std::to_string(++n) + "}", std::chrono::seconds(5)};
    });
  });
  EXPECT_TRUE(becomes(notes, "start {1}\n"));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(takes(supervisor, SIGHUP));
  EXPECT_TRUE(becomes(notes, "start {1}\nhup {2}\nhup {3}\n")) << text_of(notes);
  EXPECT_EQ(end(supervisor), 0);
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
    processes.add(listener(reloading), std::chrono::seconds(5));
    _exit(processes.run());
  }
  EXPECT_TRUE(becomes(plain, "start\n"));
  EXPECT_TRUE(becomes(reloading, "start {1}\n"));
  kill(supervisor, SIGHUP);
  EXPECT_TRUE(becomes(reloading, "start {1}\nhup \n"));
  // Time enough for a program that ended to be started again.
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_EQ(text_of(plain), "start\n");
  EXPECT_EQ(end(supervisor), 0);
}

// Exit code 2 says at a start that the settings are wrong; later it is a program's own, whose words
// are in the log.
TEST(ProcessSupervisor, WhatRanLongIsStartedAgainWhateverItsExit) {
  const test::TempDirectory directory;
  const std::string notes = directory.path() + "/notes", output = directory.path() + "/output";
  ChildSpec aged = script(
      "aged", "echo start >> " + notes + "; sleep 10.5; printf 'too old' > /proc/self/fd/3; exit 2",
      false);
  aged.settings = "{}";
  const pid_t supervisor = supervise([&](ProcessSupervisor& processes) {
    std::freopen(output.c_str(), "w", stderr);
    processes.add(aged, std::chrono::seconds(5));
  });
  EXPECT_TRUE(becomes(notes, "start\nstart\n"));
  EXPECT_EQ(end(supervisor), 0);
  EXPECT_NE(text_of(output).find("process=\"aged\" exit_code=2 reason=\"too old\""),
            std::string::npos)
      << text_of(output);
}

// The machine has no room for it, ever.
TEST(ProcessSupervisor, OneThatIsNeverStartedEndsTheOthersInOrder) {
  const test::TempDirectory directory;
  const std::string notes = directory.path() + "/notes";
  ChildSpec never = script("never", "exit 0", false);
  never.settings = "{}";
  never.before_start = [] {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 3;  // the standard descriptors
    setrlimit(RLIMIT_NOFILE, &files);
  };
  const pid_t supervisor = supervise([&](ProcessSupervisor& processes) {
    processes.add(script("first",
                         "trap 'sleep 0.5; echo stopped > " + notes +
                             "; exit' TERM; while :; do sleep 0.05; done",
                         false),
                  std::chrono::seconds(5));
    processes.add(never, std::chrono::seconds(5));
  });
  int status = 0;
  waitpid(supervisor, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(text_of(notes), "stopped\n");
}

}  // namespace
}  // namespace sandgate
