#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "gateway/supervisor/account.hpp"
#include "gateway/supervisor/process_supervisor.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

ChildSpec shell(const std::string& script) {
  return {.name = "shell",
          .argv = {"/bin/sh", "-c", script},
          .environment = {"PATH=/usr/bin:/bin"},
          .account = current_account(),
          .settings = "{}"};
}

// In a process of its own, which a supervisor takes over: its signals, its children.
std::string failure_of(
    const std::string& script, const std::function<void()>& before = [] {}) {
  int out[2];
  if (pipe(out) != 0) return "no pipe";
  const pid_t pid = fork();
  if (pid == 0) {
    std::string said = "it went on";
    try {
      before();
      ProcessSupervisor supervisor;
      supervisor.add(shell(script), std::chrono::seconds(5));
      supervisor.run();
    } catch (const Error& error) {
      said = error.what();
    }
    const auto written = write(out[1], said.data(), said.size());
    _exit(written < 0);
  }
  close(out[1]);
  std::string said(4096, '\0');
  const auto got = read(out[0], said.data(), said.size());
  said.resize(got < 0 ? 0 : static_cast<size_t>(got));
  close(out[0]);
  waitpid(pid, nullptr, 0);
  return said;
}

TEST(ProcessSupervisor, SaysLastWhyAChildCannotStart) {
  EXPECT_EQ(failure_of("printf 'no\\nroom' > /proc/self/fd/3; exit 2"), "no room");
  EXPECT_NE(failure_of("exit 2").find("'shell' cannot start"), std::string::npos);
}

TEST(ProcessSupervisor, TriesAgainWhenTheMachineHasNoRoomForAChild) {
  // The limit holds in the process that supervises: what has room after its first failure runs.
  const auto short_of_descriptors = [] {
    const int free = dup(0);
    close(free);
    // One is left, for the supervisor's signals.
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = static_cast<rlim_t>(free) + 1;
    setrlimit(RLIMIT_NOFILE, &limit);
    std::thread([before] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      setrlimit(RLIMIT_NOFILE, &before);
    }).detach();
  };
  EXPECT_EQ(failure_of("printf 'it ran' > /proc/self/fd/3; exit 2", short_of_descriptors),
            "it ran");
}

TEST(ProcessSupervisor, GivesUpWhatNeverRan) {
  EXPECT_NE(failure_of("exit 1").find("'shell' cannot start"), std::string::npos);
}

class Directories : public testing::Test {
 protected:
  mode_t mode_of(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  test::TempDirectory directory;
  std::string place = directory.path() + "/below/place",
              elsewhere = directory.path() + "/elsewhere";
};

TEST_F(Directories, AreMadeWithTheirParents) {
  ensure_directory(place, current_account(), 0711);
  EXPECT_EQ(mode_of(place), 0711u);
  ensure_directory(place, current_account(), 0700);
  EXPECT_EQ(mode_of(place), 0700u);
}

// As a cluster does with a volume: its group is the container's, its owner root.
TEST_F(Directories, OneThatRootGaveToTheGroupStays) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives directories away";
  constexpr id_t kNobody = 65534;
  chmod(directory.path().c_str(), 0755);
  mkdir(elsewhere.c_str(), 0755);
  ASSERT_EQ(chown(elsewhere.c_str(), 0, kNobody), 0);
  const auto prepared = [&](mode_t given) {
    chmod(elsewhere.c_str(), given);
    const pid_t pid = fork();
    if (pid == 0) {
      if (!switch_to_account({"nobody", kNobody, kNobody})) _exit(2);
      try {
        ensure_directory(elsewhere, current_account(), 0711, Link::follow);
        _exit(0);
      } catch (const Error&) {
        _exit(1);
      }
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(prepared(02775), 0);
  EXPECT_EQ(mode_of(elsewhere), 02775u);
  EXPECT_EQ(prepared(02755), 1) << "it cannot be written";
  EXPECT_EQ(prepared(02777), 1) << "everybody can write it";
}

TEST_F(Directories, ALinkIsNotFollowedUnlessAnOperatorMayHaveLaidIt) {
  mkdir(elsewhere.c_str(), 0755);
  chmod(elsewhere.c_str(), 0755);
  std::filesystem::create_directory(directory.path() + "/below");
  std::filesystem::create_directory_symlink(elsewhere, place);
  try {
    ensure_directory(place, current_account(), 0700);
    ADD_FAILURE() << "followed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("symbolic link"), std::string::npos) << error.what();
  }
  EXPECT_EQ(mode_of(elsewhere), 0755u);
  ensure_directory(place, current_account(), 0700, Link::follow);
  EXPECT_EQ(mode_of(elsewhere), 0700u);
}

}  // namespace
}  // namespace sandgate
