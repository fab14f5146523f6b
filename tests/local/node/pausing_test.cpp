#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "gateway/core/ids.hpp"
#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/freezer.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

class PausingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    node_ = std::make_unique<LocalNode>();
    if (!provider().descriptor().can(Verb::pause))
      GTEST_SKIP() << "needs a freezer: control groups of version 2, or the freezer of version 1";
  }
  LocalNode& node() { return *node_; }
  LocalProvider& provider() { return node_->provider(); }

  // A sandbox in which a process counts as fast as it can.
  std::string counting(CreateSpec spec) {
    std::string id = node().create(std::move(spec));
    Command command;
    command.shell =
        "i=0; while :; do i=$((i+1)); echo $i > ~/count.new; mv ~/count.new ~/count; done";
    command.background = command.keep_on_disconnect = true;
    command.process_id = make_id("pr");
    run(provider().exec(id, command));
    EXPECT_TRUE(eventually([&] { return count(id) > 0; }));
    return id;
  }
  int64_t count(const std::string& id) {
    return std::atoll(node().shell(id, "cat ~/count 2>/dev/null || echo 0").out.c_str());
  }
  int64_t cpu(const std::string& id) { return run(provider().metrics(id)).cpu_micros; }
  BackendState state(const std::string& id) {
    const auto found = run(provider().find(id));
    return found ? found->state : BackendState::gone;
  }
  // Whether its processes use time within a fifth of a second.
  bool advances(const std::string& id) {
    const int64_t before = cpu(id);
    std::this_thread::sleep_for(200ms);
    return cpu(id) > before;
  }
  bool is_frozen(const std::string& id) {
    for (const std::string& directory : node().record(id).cgroups) {
      if (read_cgroup_file(directory, "freezer.state") == "FROZEN\n") return true;
      if (stat_value(read_cgroup_file(directory, "cgroup.events"), "frozen") == 1) return true;
    }
    return false;
  }

  std::unique_ptr<LocalNode> node_;
};

TEST_F(PausingTest, APausedProcessStandsStillAndGoesOn) {
  const std::string id = counting(node().spec());
  EXPECT_TRUE(advances(id));
  EXPECT_EQ(run(provider().pause(id, Keeps::disk)), Keeps::memory);
  EXPECT_EQ(run(provider().pause(id, Keeps::memory)), Keeps::memory) << "twice is once";
  EXPECT_EQ(state(id), BackendState::paused);
  EXPECT_FALSE(advances(id));
  run(provider().resume(id));
  run(provider().resume(id));
  EXPECT_EQ(state(id), BackendState::running);
  EXPECT_TRUE(advances(id));
  const int64_t before = count(id);
  EXPECT_GT(before, 0) << "its memory was kept";
  EXPECT_TRUE(eventually([&] { return count(id) > before; }));
}

TEST_F(PausingTest, KillEndsThePausedAndLeavesNothing) {
  ASSERT_TRUE(eventually([&] { return node().host_state().cgroups == 0; }));
  const HostState before = node().host_state();
  const std::string id = counting(node().spec());
  run(provider().pause(id, Keeps::memory));
  const auto begin = std::chrono::steady_clock::now();
  run(provider().kill(id));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  EXPECT_EQ(state(id), BackendState::gone);
  EXPECT_TRUE(eventually([&] { return node().host_state().within(before); }));
}

TEST_F(PausingTest, TheTtlOfThePausedGoesOn) {
  CreateSpec spec = node().spec();
  spec.ttl = 1s;
  const std::string id = node().create(spec);
  run(provider().pause(id, Keeps::memory));
  EXPECT_TRUE(eventually([&] { return state(id) == BackendState::gone; }));
}

TEST_F(PausingTest, ARestartedNodeAdoptsThePausedAsPaused) {
  const std::string id = counting(node().spec());
  run(provider().pause(id, Keeps::memory));
  node().kill();
  node().start();
  EXPECT_EQ(state(id), BackendState::paused);
  EXPECT_FALSE(advances(id));
  run(provider().resume(id));
  EXPECT_TRUE(advances(id));
}

// Nor does a node forget since when, if it is replaced meanwhile.
TEST_F(PausingTest, APauseDoesNotCountForATimeLimit) {
  for (const bool restarts : {false, true}) {
    const std::string id = node().create();
    Command command;
    command.shell = "sleep 1; echo done";
    command.timeout = 2500ms;
    command.process_id = make_id("pr");
    const auto program = run(provider().exec(id, command));
    run(provider().pause(id, Keeps::memory));
    std::this_thread::sleep_for(1500ms);
    if (restarts) {
      node().kill();
      node().start();
    }
    std::this_thread::sleep_for(1500ms);
    run(provider().resume(id));
    std::optional<ProcessExit> exit;
    while (const auto event = run(program->next()))
      if (const auto* ended = std::get_if<ProcessExit>(&*event)) exit = *ended;
    ASSERT_TRUE(exit);
    EXPECT_FALSE(exit->timed_out) << restarts;
    EXPECT_EQ(exit->exit_code, 0) << restarts;
    EXPECT_LT(exit->duration, 2500ms) << restarts;
    run(provider().kill(id));
  }
}

TEST_F(PausingTest, WhatTheJournalSaysIsMadeTrue) {
  const std::string id = node().create();
  const std::vector<std::string> cgroups = node().record(id).cgroups;
  node().kill();
  freeze(cgroups, 2s);  // as a node that died while it took a snapshot
  node().start();
  EXPECT_EQ(state(id), BackendState::running);
  EXPECT_FALSE(is_frozen(id));
  EXPECT_EQ(node().shell(id, "echo ok").out, "ok\n");
  run(provider().pause(id, Keeps::memory));
  node().kill();
  thaw(cgroups);  // as one that died before it froze
  node().start();
  EXPECT_EQ(state(id), BackendState::paused);
  EXPECT_TRUE(is_frozen(id));
}

TEST_F(PausingTest, ANodeKilledWhilePausingTellsTheTruthAfterwards) {
  const std::string id = counting(node().spec());
  for (int round = 0; round < 8; ++round) {
    std::thread toggler([&] {
      try {
        for (int i = 0; i < 10'000; ++i) {
          run(provider().pause(id, Keeps::memory));
          run(provider().resume(id));
        }
      } catch (const Error&) {
        // the node died: what we want
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 17 * round));
    ::kill(node().pid(), SIGKILL);
    toggler.join();
    node().kill();
    node().start();
    EXPECT_EQ(state(id) == BackendState::paused, is_frozen(id)) << round;
    run(provider().resume(id));
    EXPECT_TRUE(advances(id)) << round;
  }
}

// Its threads stand in line to write to one file, where nothing can stop them.
std::string jammed(LocalNode& node) {
  CreateSpec spec = node.spec();
  spec.resources.processes = 512;
  const std::string id = node.create(spec);
  Command jam{.argv = {"/usr/bin/python3", "-c",
                       "import mmap, os, threading\n"
                       "zeros = mmap.mmap(-1, 128 << 20, prot=mmap.PROT_READ)\n"
                       "def write():\n"
                       "  file = os.open('/home/user/f', os.O_WRONLY | os.O_CREAT)\n"
                       "  while True: os.pwrite(file, zeros, 0)\n"
                       "for i in range(300): threading.Thread(target=write).start()\n"}};
  jam.process_id = "jam";
  jam.background = true;
  run(node.provider().exec(id, std::move(jam)));
  EXPECT_TRUE(eventually([&] { return run(node.provider().metrics(id)).processes > 300; }));
  return id;
}

TEST_F(PausingTest, WhatCannotBeStoppedKeepsNobodyElseWaiting) {
  std::vector<std::string> slow;
  for (int i = 0; i < 5; ++i) slow.push_back(jammed(node()));  // more than the node has threads
  std::atomic<int> refused{0};
  std::vector<std::thread> pausers;
  for (const std::string& id : slow)
    pausers.emplace_back([&, id] {
      if (code_of([&] { run(provider().pause(id, Keeps::memory)); }) == ErrorCode::conflict)
        ++refused;
    });
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(slow, [&](const auto& id) { return node().record(id).paused; });
  })) << "all are about to be paused";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(run(provider().kill(node().create()))) << "others come and go";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s) << "and wait for no pause, of five";
  for (std::thread& pauser : pausers) pauser.join();
  EXPECT_GT(refused, 0) << "the control";
  for (const std::string& id : slow) run(provider().kill(id));
}

TEST_F(PausingTest, TheEndOfWhatCannotBeStoppedIsNotWaitedFor) {
  const std::string id = jammed(node());
  std::optional<ErrorCode> code;
  std::thread pauser([&] { code = code_of([&] { run(provider().pause(id, Keeps::memory)); }); });
  EXPECT_TRUE(eventually([&] { return node().record(id).paused; }));
  const auto begin = std::chrono::steady_clock::now();
  if (provider().descriptor().can(Verb::snapshot)) {
    EXPECT_EQ(code_of([&] { run(provider().snapshot(id, "sn", Keeps::disk, true)); }),
              ErrorCode::conflict);
  }
  std::thread killer([&] { code_of([&] { run(provider().kill(id)); }); });
  pauser.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  EXPECT_EQ(code, ErrorCode::conflict);
  killer.join();
  EXPECT_TRUE(eventually([&] { return state(id) == BackendState::gone; }));
}

// Whatever a pause, resume or copy fails at, the sandbox is not left standing still.
TEST_F(PausingTest, ANodeThatIsShortOfDescriptorsLeavesNoRunningSandboxFrozen) {
  if (!provider().descriptor().can(Verb::snapshot)) GTEST_SKIP() << kNeedsDisks;
  const std::string id = counting(node().spec());
  const auto is_open = [&](rlim_t number) {
    return std::filesystem::exists(std::filesystem::symlink_status(
        "/proc/" + std::to_string(node().pid()) + "/fd/" + std::to_string(number)));
  };
  rlimit before{};
  ASSERT_EQ(prlimit(node().pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  int failed = 0, made = 0;
  for (rlim_t more = 0; more < 12; ++more) {
    rlimit few{0, before.rlim_max};
    for (rlim_t free = 0; free <= more; ++few.rlim_cur) free += is_open(few.rlim_cur) ? 0 : 1;
    ASSERT_EQ(prlimit(node().pid(), RLIMIT_NOFILE, &few, nullptr), 0);
    const auto code =
        code_of([&] { run(provider().snapshot(id, make_id("sn"), Keeps::disk, true)); });
    ASSERT_EQ(prlimit(node().pid(), RLIMIT_NOFILE, &before, nullptr), 0);
    ++(code ? failed : made);
    EXPECT_FALSE(is_frozen(id)) << "with " << more + 1 << " descriptors left";
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(made, 0);
  EXPECT_TRUE(advances(id));
}

TEST_F(PausingTest, UnknownSandboxesAreNotFound) {
  const auto code = [&](Task<void> task) {
    try {
      run(std::move(task));
    } catch (const Error& error) {
      return error.code;
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code(provider().resume("sbnothing")), ErrorCode::not_found);
}

}  // namespace
}  // namespace sandgate::test
