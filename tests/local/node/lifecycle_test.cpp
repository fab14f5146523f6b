#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "gateway/core/ids.hpp"
#include "local/namespaces/launcher.hpp"
#include "local/node/server/sandbox_request.hpp"
#include "tests/local/node/node_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

class LifecycleTest : public NodeTest {
 protected:
  bool is_gone(const std::string& id) {
    const auto found = run(node().provider().find(id));
    return !found || found->state == BackendState::gone;
  }
};

ino_t inode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// Whether the text is in the file, of which only what is not a hole is read.
bool holds(const std::string& path, const std::string& text) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  for (off_t at = 0; (at = lseek(file.get(), at, SEEK_DATA)) >= 0; at += bytes.size()) {
    bytes.resize(1 << 20);
    bytes.resize(std::max<ssize_t>(0, pread(file.get(), bytes.data(), bytes.size(), at)));
    if (bytes.empty()) return false;
    if (bytes.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST_F(LifecycleTest, AnImageThatIsUsedAgainHoldsNothingOfItsLast) {
  if (!node().provider().descriptor().can(Verb::snapshot)) GTEST_SKIP() << kNeedsDisks;
  const std::string disks = node().data_dir() + "/disks", text = "known to the first alone";
  const std::string first = node().create(), image = disks + "/" + first + ".img";
  const ino_t inode = inode_of(image);
  node().shell(first, "yes '" + text + "' | head -c 64M > ~/file; sync ~/file");
  EXPECT_TRUE(holds(image, text));
  run(node().provider().kill(first));
  EXPECT_TRUE(eventually([&] { return inode_of(image) == 0; }));
  const std::string second = node().create();
  EXPECT_EQ(inode_of(disks + "/" + second + ".img"), inode) << "used again";
  EXPECT_FALSE(holds(disks + "/" + second + ".img", text));
  EXPECT_EQ(node().shell(second, "test -e ~/file; echo $?").out, "1\n");
}

TEST_F(LifecycleTest, EndsThatTakeLongKeepNobodyElseWaiting) {
  if (!node().provider().descriptor().can(Verb::snapshot)) GTEST_SKIP() << kNeedsDisks;
  constexpr std::ptrdiff_t kSlow = 10;  // more than the node has threads for ends
  std::vector<JournalRecord> slow;
  std::vector<FrozenDisk> frozen;
  for (std::ptrdiff_t i = 0; i < kSlow; ++i) {
    slow.push_back(node().record(node().create()));
    frozen.push_back(node().hold_at_disk(slow.back()));
  }
  const auto ends = [&](const std::string& id) {
    try {
      run(node().provider().kill(id));
    } catch (const Error&) {
      // not within anybody's patience
    }
  };
  std::vector<std::thread> killers;
  for (const JournalRecord& one : slow) killers.emplace_back([&] { ends(one.id); });
  const auto dying = [&] {
    return std::ranges::count_if(slow, [](const auto& one) { return is_dying(one.pid); });
  };
  EXPECT_TRUE(eventually([&] { return dying() == kSlow; })) << "they wait";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(run(node().provider().kill(node().create()))) << "others come and go";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s) << "and wait for no end, of ten seconds";
  frozen.clear();
  for (std::thread& killer : killers) killer.join();
  EXPECT_TRUE(eventually([&] { return run(node().provider().list()).empty(); }));
}

// Its end takes longer than anybody waits, and is no death of its own.
TEST_F(LifecycleTest, WhatEndsLateIsCountedAsEnded) {
  if (!node().provider().descriptor().can(Verb::snapshot)) GTEST_SKIP() << kNeedsDisks;
  const JournalRecord slow = node().record(node().create());
  FrozenDisk frozen = node().hold_at_disk(slow);
  std::thread finisher([&] { EXPECT_GT(run(node().provider().finish(slow.id)).cpu_micros, 0); });
  EXPECT_TRUE(eventually([&] { return is_dying(slow.pid); }));
  std::this_thread::sleep_for(500ms);
  EXPECT_FALSE(is_gone(slow.id)) << "the control";
  frozen.end();
  finisher.join();
  EXPECT_TRUE(is_gone(slow.id));
  EXPECT_TRUE(run(node().provider().deaths()).empty());
}

TEST_F(LifecycleTest, AHundredAtOnce) {
  asio::io_context loop;
  std::vector<std::future<BackendSandbox>> made;
  for (int i = 0; i < 100; ++i) {
    CreateSpec spec = node().spec();
    spec.resources.memory_mib = 64;
    made.push_back(asio::co_spawn(loop, node().provider().create(spec), asio::use_future));
  }
  loop.run();
  for (auto& one : made) EXPECT_NO_THROW(one.get());
  EXPECT_EQ(run(node().provider().list()).size(), 100u);
  std::set<uint32_t> bases;
  for (const BackendSandbox& sandbox : run(node().provider().list())) {
    bases.insert(node().record(sandbox.backend_id).id_base);
  }
  EXPECT_EQ(bases.size(), 100u);
}

TEST_F(LifecycleTest, ARestartedNodeAdoptsWhatRuns) {
  std::string id = node().create();
  EXPECT_EQ(node().shell(id, "echo kept > ~/file; echo ok").out, "ok\n");
  node().kill();
  EXPECT_EQ(node().shell(id, "cat ~/file").out, "kept\n") << "exec needs no node";
  node().start();
  EXPECT_TRUE(run(node().provider().find(id)));
  EXPECT_EQ(node().shell(id, "cat ~/file").out, "kept\n");
  EXPECT_GT(run(node().provider().metrics(id)).processes, 0);
  JournalRecord record = node().record(id);
  run(node().provider().kill(id));
  // Orphans of the first node are reaped by the machine's own init.
  EXPECT_TRUE(eventually([&] { return ::kill(static_cast<pid_t>(record.pid), 0) != 0; }));
}

// A child of ours that has this pid, as if pids had come round; -1 while somebody else has it.
pid_t fork_as(pid_t pid) {
  clone_args how{};
  how.exit_signal = SIGCHLD;
  how.set_tid = reinterpret_cast<uintptr_t>(&pid);
  how.set_tid_size = 1;
  const long made = syscall(SYS_clone3, &how, sizeof how);
  while (made == 0) pause();
  return static_cast<pid_t>(made);
}

// Pids come round again; the start time tells whose one is.
TEST_F(LifecycleTest, AStrangerWithTheSamePidIsLeftAlone) {
  const std::string id = node().create(), control = node().create();
  node().kill();
  const auto become_strangers = [&](const std::string& sandbox, bool same_start) {
    JournalRecord record = node().record(sandbox);
    const auto pid = static_cast<pid_t>(record.pid);
    ::kill(pid, SIGKILL);
    EXPECT_TRUE(eventually([&] { return fork_as(pid) == pid; }));
    if (!same_start) return pid;
    record.start_time = process_start_time(pid);
    std::ofstream(node().run_dir() + "/sandboxes/" + sandbox + "/sandbox.json")
        << to_json(record).dump();
    return pid;
  };
  const pid_t stranger = become_strangers(id, false), taken = become_strangers(control, true);
  node().start();
  EXPECT_TRUE(is_gone(id));
  EXPECT_FALSE(is_gone(control));
  run(node().provider().kill(control));
  EXPECT_EQ(waitpid(taken, nullptr, 0), taken) << "the control: this one was believed";
  EXPECT_EQ(waitpid(stranger, nullptr, WNOHANG), 0);
  ::kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST_F(LifecycleTest, ARestartedNodeSweepsWhatDied) {
  HostState before = node().host_state();
  std::string died = node().create(), lives = node().create();
  JournalRecord record = node().record(died);
  node().kill();
  ::kill(static_cast<pid_t>(record.pid), SIGKILL);
  ASSERT_TRUE(eventually([&] { return ::kill(static_cast<pid_t>(record.pid), 0) != 0; }));
  std::filesystem::create_directories(node().run_dir() + "/sandboxes/sbhalfmade");
  node().start();
  EXPECT_TRUE(is_gone(died));
  EXPECT_FALSE(is_gone(lives));
  EXPECT_TRUE(eventually([&] { return images_left() == 1; }));
  run(node().provider().kill(lives));
  expect_clean(before);
}

// Takes the port of the way out as soon as it is free, and gives it back when told.
constexpr const char* kTakeProxyPort =
    "nohup python3 -c \"\n"
    "import os, socket, time\n"
    "taken = socket.socket()\n"
    "while True:\n"
    "  try: taken.bind(('127.0.0.1', 3128)); break\n"
    "  except OSError: time.sleep(.001)\n"
    "open('/tmp/taken', 'w')\n"
    "while not os.path.exists('/tmp/go'): time.sleep(.01)\n\" > /dev/null 2>&1 &";

TEST_F(LifecycleTest, TheWayOutOpensAgainHoweverLateItsPortIsFree) {
  CreateSpec spec = node().spec();
  spec.network.allow = {"example.org:443"};
  const std::string id = node().create(spec);
  const auto answer = [&] {
    return node()
        .python(id,
                "import socket\n"
                "proxy = socket.create_connection(('127.0.0.1', 3128), 1)\n"
                "proxy.sendall(b'CONNECT no.example.org:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n"
                "print(proxy.recv(12).decode())")
        .out;
  };
  ASSERT_EQ(answer(), "HTTP/1.1 403\n");
  ASSERT_EQ(node().shell(id, kTakeProxyPort).exit_code, 0);
  const std::string root = "/proc/" + std::to_string(node().record(id).pid) + "/root";
  node().kill();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(root + "/tmp/taken"); }));
  node().start();
  std::this_thread::sleep_for(1500ms);  // longer than the node tries it in quick succession
  EXPECT_EQ(answer(), "") << "the control";
  node().shell(id, "touch /tmp/go");
  EXPECT_TRUE(eventually([&] { return answer() == "HTTP/1.1 403\n"; }));
}

// What runs has every range of user ids, so the trial at the start gets none.
TEST_F(LifecycleTest, AFullMachineIsTakenOverAgain) {
  node().stop();
  setenv("SANDGATE_TEST_ID_RANGES", "3", 1);  // one of them is the egress process's
  node().start();
  const std::string one = node().create(), other = node().create();
  EXPECT_EQ(code_of(node().provider().create(node().spec())), ErrorCode::no_capacity);
  node().kill();
  EXPECT_NO_THROW(node().start());
  unsetenv("SANDGATE_TEST_ID_RANGES");
  EXPECT_FALSE(is_gone(one));
  run(node().provider().kill(other));
  EXPECT_TRUE(eventually([&] { return !code_of(node().provider().create(node().spec())); }));
}

// An entry that could not be removed when its sandbox ended, and whose ids were given out again.
TEST_F(LifecycleTest, AnEntryThatWasLeftCostsNobodyElseTheirProcesses) {
  const std::string lives = node().create(), stale = "sbstale";
  JournalRecord record = node().record(lives);
  node().kill();
  record.id = stale;
  record.start_time = 1;
  record.cgroups.clear();
  const std::string directory = node().run_dir() + "/sandboxes/" + stale;
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/sandbox.json") << to_json(record).dump();
  node().start();
  EXPECT_FALSE(std::filesystem::exists(directory)) << "it was swept";
  EXPECT_EQ(node().shell(lives, "echo ok").out, "ok\n");
  EXPECT_FALSE(is_gone(lives));
}

TEST_F(LifecycleTest, ANodeKilledWhileCreatingLeavesNothing) {
  HostState before = node().host_state();
  for (int round = 0; round < 6; ++round) {
    kill_amid_creates(std::chrono::milliseconds(60 + 37 * round));
    node().start();
    for (const BackendSandbox& sandbox : run(node().provider().list())) {
      EXPECT_EQ(node().shell(sandbox.backend_id, "echo ok").out, "ok\n");
      run(node().provider().kill(sandbox.backend_id));
    }
    expect_clean(before);
  }
}

TEST_F(LifecycleTest, ADeadAgentIsADeadSandbox) {
  HostState before = node().host_state();
  std::string id = node().create();
  ::kill(static_cast<pid_t>(node().record(id).pid), SIGKILL);
  EXPECT_TRUE(eventually([&] { return is_gone(id); }));
  expect_clean(before);
}

TEST_F(LifecycleTest, TheNodeEndsWhatServeForgot) {
  CreateSpec spec = node().spec();
  spec.ttl = std::chrono::seconds(1);
  std::string forgotten = node().create(spec);
  spec = node().spec();
  spec.ttl = std::chrono::seconds(1);
  std::string extended = node().create(spec);
  run(node().provider().extend(extended, std::chrono::seconds(600)));
  EXPECT_TRUE(eventually([&] { return is_gone(forgotten); }));
  EXPECT_TRUE(run(node().provider().find(extended)));
}

TEST_F(LifecycleTest, NoTimeIsExtendedForEver) {
  const std::string id = node().create();
  const auto extend = [&](std::chrono::seconds ttl) {
    return code_of(node().provider().extend(id, ttl));
  };
  for (const auto beyond : {kLongestTtl + std::chrono::seconds(1), std::chrono::seconds::max(),
                            std::chrono::seconds(0), std::chrono::seconds::min()})
    EXPECT_EQ(extend(beyond), ErrorCode::invalid) << beyond.count();
  EXPECT_EQ(extend(kLongestTtl), std::nullopt);
}

TEST_F(LifecycleTest, ConcurrentKillsAgree) {
  std::string id = node().create();
  asio::io_context loop;
  std::vector<std::future<void>> kills;
  for (int i = 0; i < 10; ++i) {
    kills.push_back(asio::co_spawn(loop, node().provider().kill(id), asio::use_future));
  }
  loop.run();
  for (auto& one : kills) EXPECT_NO_THROW(one.get());
  EXPECT_FALSE(run(node().provider().find(id)));
}

TEST_F(LifecycleTest, OnlyServesUserReachesTheAgent) {
  std::string id = node().create();
  struct stat status {};
  std::string path = node().run_dir() + "/sandboxes/" + id;
  ASSERT_EQ(stat((path + "/agent.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((path + "/sandbox.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((node().run_dir() + "/node.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(LifecycleTest, ANodeAwayFailsFast) {
  node().stop();
  try {
    node().create();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable);
  }
  node().start();
}

}  // namespace
}  // namespace sandgate::test
