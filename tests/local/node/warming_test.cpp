#include <algorithm>
#include <set>

#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/freezer.hpp"
#include "tests/local/node/node_fixture.hpp"

namespace sandgate::test {
namespace {

constexpr size_t kWarm = 4;

class WarmingTest : public NodeTest {
 protected:
  WarmingTest() : NodeTest(kWarm) {}

  // The first processes of the sandboxes that wait for an owner.
  std::set<int64_t> waiting() {
    std::set<int64_t> pids;
    for (const auto& entry : std::filesystem::directory_iterator(node().run_dir() + "/sandboxes")) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("seat-")) continue;
      try {
        const JournalRecord record = node().record(name);
        if (record.state == RecordState::waiting && record.pid > 0) pids.insert(record.pid);
      } catch (const std::exception&) {
        // just made or just taken
      }
    }
    return pids;
  }
  // Has the pool hold warm sandboxes like node().spec().
  void warm_up() {
    std::string first;
    for (size_t i = 0; i < kWarm; ++i) first = node().create();
    ASSERT_TRUE(eventually([&] { return waiting().size() == kWarm; }));
  }
};

TEST_F(WarmingTest, WhoeverComesIsGivenOneThatWaits) {
  warm_up();
  const auto before = waiting();
  const std::string id = node().create();
  EXPECT_TRUE(before.contains(node().record(id).pid));
  EXPECT_EQ(node().shell(id, "echo ok").out, "ok\n");
  EXPECT_GT(run(node().provider().metrics(id)).processes, 0);
  EXPECT_EQ(run(node().provider().list()).size(), kWarm + 1) << "seats are nobody's";
  for (const BackendSandbox& sandbox : run(node().provider().list())) {
    EXPECT_TRUE(sandbox.backend_id.starts_with("sb"));
  }
}

TEST_F(WarmingTest, OneBeingMadeIsNobodys) {
  std::atomic<bool> over{false};
  std::set<std::string> shown;
  std::thread looker([&] {
    while (!over)
      for (const BackendSandbox& sandbox : run(node().provider().list()))
        if (!sandbox.backend_id.starts_with("sb")) shown.insert(sandbox.backend_id);
  });
  warm_up();
  over = true;
  looker.join();
  EXPECT_TRUE(shown.empty()) << *shown.begin();
}

TEST_F(WarmingTest, ItsSettingsAreBound) {
  warm_up();
  const auto before = waiting();
  CreateSpec spec = node().spec();
  spec.env = {{"GIVEN", "mine"}};
  spec.allow_root = true;
  spec.ttl = std::chrono::seconds(1234);
  spec.tenant_id = "tn-other";
  const std::string id = node().create(spec);
  const JournalRecord record = node().record(id);
  ASSERT_TRUE(before.contains(record.pid));
  EXPECT_EQ(record.tenant_id, "tn-other");
  const auto left = record.expires_at - UptimeClock().now();
  EXPECT_LE(left, std::chrono::seconds(1234));
  EXPECT_GT(left, std::chrono::seconds(1200));
  EXPECT_EQ(node().shell(id, "echo $GIVEN; id -u", "root").out, "mine\n0\n");
  const std::string plain = node().create();
  ASSERT_TRUE(before.contains(node().record(plain).pid));
  EXPECT_EQ(node().shell(plain, "echo .$GIVEN").out, ".\n");
  EXPECT_THROW(node().shell(plain, "id -u", "root"), Error) << "root is this one's no more";
}

TEST_F(WarmingTest, WhatWaitsForTheFirstProgramIsNoProcessOfTheOwners) {
  warm_up();
  const auto before = waiting();
  const std::string id = node().create();
  const JournalRecord record = node().record(id);
  ASSERT_TRUE(before.contains(record.pid));
  const auto counted = [&] { return run(node().provider().metrics(id)).processes; };
  const auto there = [&] {
    const std::string pids = read_cgroup_file(record.cgroups.front(), "cgroup.procs");
    return std::count(pids.begin(), pids.end(), '\n');
  };
  EXPECT_EQ(there(), 2) << "the control: the agent and what waits";
  EXPECT_EQ(counted(), 1);
  node().shell(id, "sleep 600 > /dev/null 2>&1 &");
  EXPECT_EQ(there(), 2);
  EXPECT_EQ(counted(), 2);
}

TEST_F(WarmingTest, AnotherSizeIsMadeForItself) {
  warm_up();
  const auto before = waiting();
  CreateSpec spec = node().spec();
  spec.resources.memory_mib = 128;
  const JournalRecord record = node().record(node().create(spec));
  EXPECT_FALSE(before.contains(record.pid));
  EXPECT_EQ(record.resources.memory_mib, 128);
}

TEST_F(WarmingTest, NothingOfOneOwnerReachesTheNext) {
  warm_up();
  CreateSpec spec = node().spec();
  spec.env = {{"CANARY", "my-canary"}};
  const auto first = node().create(spec);
  const int64_t pid = node().record(first).pid;
  node().shell(first,
               "for f in ~/f /tmp/f /var/tmp/f /dev/shm/f; do echo my-canary > $f; done; "
               "python3 -c 'import time; time.sleep(600)' my-canary > /dev/null 2>&1 &");
  const char* look =
      "{ cat /proc/*/cmdline /proc/*/environ | tr '\\0' '\\n'; cat ~/* /tmp/* /var/tmp/* "
      "/dev/shm/*; "
      "ipcs; cat /proc/keys; } 2>/dev/null | grep -c my-c[a]nary";
  EXPECT_GE(std::stoi(node().shell(first, look).out), 6) << "the control: it is found where it is";
  run(node().provider().kill(first));
  for (size_t i = 0; i < 100; ++i) {
    const auto next = node().create();
    EXPECT_NE(node().record(next).pid, pid);
    EXPECT_EQ(node().shell(next, look).out, "0\n");
    run(node().provider().kill(next));
  }
}

TEST_F(WarmingTest, ADeadOneIsNotGiven) {
  warm_up();
  for (int64_t pid : waiting()) ::kill(static_cast<pid_t>(pid), SIGKILL);
  for (size_t i = 0; i < kWarm; ++i) {
    EXPECT_EQ(node().shell(node().create(), "echo ok").out, "ok\n");
  }
}

TEST_F(WarmingTest, ANodeKilledWhileHandingOverLeavesNothing) {
  const HostState before = node().host_state();
  for (int round = 0; round < 6; ++round) {
    warm_up();
    kill_amid_creates(std::chrono::milliseconds(3 + 11 * round));
    node().start();
    EXPECT_TRUE(waiting().empty()) << "those that waited are swept";
    for (const BackendSandbox& sandbox : run(node().provider().list())) {
      EXPECT_EQ(node().shell(sandbox.backend_id, "echo ok").out, "ok\n");
      run(node().provider().kill(sandbox.backend_id));
    }
    expect_clean(before);
  }
}

TEST_F(WarmingTest, AStopEndsThoseThatWait) {
  const HostState before = node().host_state();
  warm_up();
  for (const BackendSandbox& sandbox : run(node().provider().list())) {
    run(node().provider().kill(sandbox.backend_id));
  }
  node().stop();
  expect_clean(before);
  node().start();
}

// With version 1 of control groups, what is frozen does not die.
TEST_F(WarmingTest, OneThatNeitherAnswersNorEndsIsInNobodysWay) {
  warm_up();
  std::vector<JournalRecord> warm;
  for (const JournalRecord& record : Journal(node().run_dir() + "/sandboxes").read_all())
    if (record.state == RecordState::waiting) warm.push_back(record);
  ASSERT_EQ(warm.size(), kWarm);
  for (const JournalRecord& record : warm) freeze(record.cgroups, std::chrono::seconds(1));
  std::string id;
  EXPECT_NO_THROW(id = node().create());
  EXPECT_EQ(node().shell(id, "echo ok").out, "ok\n");
  for (const JournalRecord& record : warm) thaw(record.cgroups);
  const auto alive = [&] {
    return std::ranges::count_if(
        warm, [](const auto& one) { return ::kill(static_cast<pid_t>(one.pid), 0) == 0; });
  };
  EXPECT_TRUE(eventually([&] { return alive() == kWarm - 1; })) << "it ends when it can";
}

}  // namespace
}  // namespace sandgate::test
