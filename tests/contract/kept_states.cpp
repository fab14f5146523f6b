#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "tests/contract/provider_contract.hpp"

// The lines of the contract on states that are kept: pauses, snapshots and forks.
namespace sandgate::test {

TEST_P(PauseContract, PauseStopsAndKeepsWhatItDeclares) {
  const std::string id = box_.backend_id;
  const Keeps declared = provider().descriptor().verbs.at(Verb::pause);
  const bool ticks = can(Verb::background);
  std::unique_ptr<ProcessStream> stream;
  if (ticks) {
    stream =
        loop_.run(provider().exec(id, {.shell = "while :; do date +%s%N >> ticks; sleep 0.02; done",
                                       .keep_on_disconnect = true,
                                       .background = true,
                                       .process_id = ProcessId::make().value}));
    while (shell("test -s ticks").exit.exit_code != 0) continue;
  }
  EXPECT_EQ(loop_.run(provider().pause(id, Keeps::memory)), declared);
  EXPECT_EQ(loop_.run(provider().pause(id, Keeps::memory)), declared);
  EXPECT_EQ(loop_.run(provider().find(id))->state, BackendState::paused);
  EXPECT_EQ(loop_.run(provider().find(id))->kept, declared);
  loop_.run(sleep_for(std::chrono::milliseconds(400)));
  loop_.run(provider().resume(id));
  loop_.run(provider().resume(id));
  EXPECT_EQ(loop_.run(provider().find(id))->state, BackendState::running);
  if (declared != Keeps::memory || !ticks) return;
  const auto lines = shell("wc -l < ticks").out;
  while (shell("wc -l < ticks").out == lines) continue;
  const auto gap = shell(
      "p=; m=0; while read t; do if [ -n \"$p\" ]; then d=$(( (t-p)/1000000 ));"
      " [ $d -gt $m ] && m=$d; fi; p=$t; done < ticks; echo $m");
  EXPECT_GE(std::atoi(gap.out.c_str()), 380) << "it ran on while paused";
  if (!can(Verb::signal)) return;
  for (const auto& process : loop_.run(provider().processes(id)))
    if (process.background) loop_.run(provider().signal(id, process.id, SIGKILL));
}

TEST_P(SnapshotContract, SnapshotsRestoreWhatWasThen) {
  const std::string ours = SnapshotId::make().value;
  write("kept/file", "then");
  const auto taken = loop_.run(provider().snapshot(box_.backend_id, ours, Keeps::disk, true));
  EXPECT_EQ(taken.kept, provider().descriptor().verbs.at(Verb::snapshot));
  write("kept/file", "now");
  const auto found = loop_.run(provider().find_snapshot(ours));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->backend_id, taken.backend_id);
  CreateSpec spec = backend_->spec();
  spec.sandbox_id = SandboxId::make().value;
  spec.snapshot = taken.backend_id;
  const BackendSandbox first = box_;
  box_ = loop_.run(provider().create(spec));
  loop_.run(provider().remove_snapshot(taken.backend_id));
  loop_.run(provider().remove_snapshot(taken.backend_id));
  EXPECT_FALSE(loop_.run(provider().find_snapshot(ours)));
  EXPECT_EQ(read("kept/file"), "then");
  write("kept/file", "mine");
  loop_.run(provider().kill(box_.backend_id));
  box_ = first;
  EXPECT_EQ(read("kept/file"), "now");
}

TEST_P(ForkContract, ForksGoTheirOwnWays) {
  write("common", "all");
  const BackendSandbox first = box_;
  const std::string ours = SnapshotId::make().value;
  const auto taken = loop_.run(provider().snapshot(box_.backend_id, ours, Keeps::disk, false));
  std::vector<BackendSandbox> forks;
  for (int i = 0; i < 2; ++i) {
    CreateSpec spec = backend_->spec();
    spec.sandbox_id = SandboxId::make().value;
    spec.snapshot = taken.backend_id;
    forks.push_back(loop_.run(provider().create(spec)));
  }
  loop_.run(provider().remove_snapshot(taken.backend_id));
  for (const BackendSandbox& one : forks) {
    box_ = one;
    write("common", one.sandbox_id);
  }
  for (const BackendSandbox& one : forks) {
    box_ = one;
    EXPECT_EQ(read("common"), one.sandbox_id);
    loop_.run(provider().kill(one.backend_id));
  }
  box_ = first;
  EXPECT_EQ(read("common"), "all");
}

INSTANTIATE_TEST_SUITE_P(Backends, PauseContract, testing::ValuesIn(PauseContract::lines()),
                         name_of_line);
INSTANTIATE_TEST_SUITE_P(Backends, SnapshotContract, testing::ValuesIn(SnapshotContract::lines()),
                         name_of_line);
INSTANTIATE_TEST_SUITE_P(Backends, ForkContract, testing::ValuesIn(ForkContract::lines()),
                         name_of_line);

}  // namespace sandgate::test
