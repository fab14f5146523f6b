#include <signal.h>

#include <filesystem>
#include <thread>

#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "local/image/import.hpp"
#include "local/node/storage/image_garbage.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

class SnapshotsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    node_ = std::make_unique<LocalNode>();
    if (!provider().descriptor().can(Verb::snapshot)) GTEST_SKIP() << kNeedsDisks;
  }
  LocalNode& node() { return *node_; }
  LocalProvider& provider() { return node_->provider(); }

  BackendSnapshot snapshot(const std::string& id, std::string name = make_id("sn")) {
    return run(provider().snapshot(id, std::move(name), Keeps::disk, true));
  }
  std::string restore(const BackendSnapshot& snapshot) {
    return node().create(restoring(snapshot));
  }
  CreateSpec restoring(const BackendSnapshot& snapshot) {
    CreateSpec spec = node().spec();
    spec.snapshot = snapshot.backend_id;
    return spec;
  }
  std::string out(const std::string& id, const std::string& line) {
    return node().shell(id, line).out;
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(node_->data_dir() + "/snapshots"))
      names.insert(entry.path().filename().string());
    return names;
  }
  template <class T>
  std::optional<ErrorCode> code_of(Task<T> task) {
    try {
      run(std::move(task));
      return std::nullopt;
    } catch (const Error& error) {
      return error.code;
    }
  }

  std::unique_ptr<LocalNode> node_;
};

TEST_F(SnapshotsTest, KeepsContentAsItWas) {
  const std::string id = node().create();
  out(id,
      "mkdir -p ~/d; echo old > ~/d/file; rm -f /etc/motd; head -c 3000000 /dev/urandom > ~/big");
  const std::string digest = out(id, "sha256sum < ~/big; ls -l /etc/motd 2>&1 | wc -l");
  const BackendSnapshot taken = snapshot(id);
  EXPECT_GE(taken.size_bytes, 3'000'000);
  out(id, "echo new > ~/d/file; rm ~/big; touch ~/later");
  const std::string first = restore(taken);
  EXPECT_EQ(out(first, "cat ~/d/file"), "old\n");
  EXPECT_EQ(out(first, "sha256sum < ~/big; ls -l /etc/motd 2>&1 | wc -l"), digest);
  EXPECT_EQ(out(first, "ls ~/later 2>/dev/null"), "");
  out(first, "echo changed > ~/d/file; rm ~/big");
  const std::string second = restore(taken);
  EXPECT_EQ(out(second, "cat ~/d/file"), "old\n") << "a restored sandbox does not write to it";
  EXPECT_EQ(out(second, "sha256sum < ~/big; ls -l /etc/motd 2>&1 | wc -l"), digest);
  EXPECT_EQ(out(id, "cat ~/d/file"), "new\n");
  EXPECT_EQ(out(second, "touch ~/x && stat -c %U ~/x ~/d/file"), "user\nuser\n");
}

// What is in it must not be lost because nothing can be added to it.
TEST_F(SnapshotsTest, OfADiskWithoutFreeFilesCanBeRestored) {
  CreateSpec spec = node().spec();
  spec.resources.disk_gib = 1;
  const std::string id = node().create(spec);
  out(id, "echo kept > ~/file; mkdir ~/q; cd ~/q; seq 70000 | xargs touch 2>/dev/null");
  EXPECT_EQ(out(id, "touch ~/more 2>/dev/null || echo full"), "full\n");
  for (std::string at = id, round = "12"; !round.empty(); round.pop_back()) {
    at = restore(snapshot(at));
    EXPECT_EQ(out(at, "cat ~/file; touch ~/more 2>/dev/null || echo full"), "kept\nfull\n");
  }
}

TEST_F(SnapshotsTest, AForkOfThreeGoesThreeWays) {
  const std::string id = node().create();
  out(id, "echo common > ~/file");
  const BackendSnapshot taken = run(provider().snapshot(id, make_id("sn"), Keeps::disk, false));
  std::vector<std::string> forks;
  for (int i = 0; i < 3; ++i) forks.push_back(restore(taken));
  run(provider().remove_snapshot(taken.backend_id));
  for (int i = 0; i < 3; ++i) out(forks[i], "echo " + std::to_string(i) + " >> ~/file");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(out(forks[i], "cat ~/file"), "common\n" + std::to_string(i) + "\n");
  EXPECT_EQ(out(id, "cat ~/file"), "common\n") << "the first one goes on by itself";
  EXPECT_TRUE(files().empty());
}

TEST_F(SnapshotsTest, TheSameIdAgainIsTheSameSnapshot) {
  const std::string id = node().create(), other = node().create(), name = make_id("sn");
  out(id, "echo one > ~/file");
  const BackendSnapshot first = snapshot(id, name);
  out(id, "echo two > ~/file");
  EXPECT_EQ(snapshot(id, name).size_bytes, first.size_bytes);
  EXPECT_EQ(out(restore(first), "cat ~/file"), "one\n");
  EXPECT_EQ(code_of(provider().snapshot(other, name, Keeps::disk, true)), ErrorCode::conflict);
  EXPECT_TRUE(run(provider().find_snapshot(name)));
  EXPECT_FALSE(run(provider().find_snapshot(make_id("sn"))));
}

TEST_F(SnapshotsTest, RemovedSnapshotsLeaveTheRestoredAlone) {
  const std::string id = node().create();
  out(id, "head -c 2000000 /dev/urandom > ~/big");
  const std::string digest = out(id, "sha256sum < ~/big");
  const BackendSnapshot taken = snapshot(id);
  const std::string restored = restore(taken);
  run(provider().remove_snapshot(taken.backend_id));
  run(provider().remove_snapshot(taken.backend_id));
  run(provider().kill(id));
  EXPECT_EQ(out(restored, "sha256sum < ~/big"), digest);
  EXPECT_EQ(code_of(provider().create(restoring(taken))), ErrorCode::not_found);
  EXPECT_TRUE(files().empty());
}

// An image whose file, environment and account tell its version.
void import_version(ImageStore& store, const std::string& version, const char* uid) {
  const TempDirectory draft;
  std::vector<Member> layer = busybox_layer();
  layer.push_back({.name = "version", .content = version});
  const Json config{{"User", uid}, {"Env", {"VERSION=" + version}}};
  write_layout(draft.path() + "/layout", {tar_of(layer)}, config);
  import_image(store, "small", draft.path() + "/layout", [](std::string_view) {});
}

TEST_F(SnapshotsTest, LiesOverTheImageThatItWasTakenOf) {
  if (!std::filesystem::exists("/bin/busybox"))
    GTEST_SKIP() << "needs /bin/busybox, of the package busybox-static";
  const std::string images = node().data_dir() + "/images";
  std::filesystem::remove(images);  // that of all tests
  ImageStore store(images);
  NodeSettings settings;
  settings.data_dir = node().data_dir();
  settings.run_dir = node().run_dir();
  const auto collect = [&] { return collect_images(settings, store); };
  const auto sh = [&](const std::string& sandbox, std::string line) {
    return node().exec(sandbox, {.argv = {"/bin/sh", "-c", std::move(line)}}).out;
  };
  import_version(store, "one", "1501");
  CreateSpec spec = node().spec();
  spec.image = "small";
  const std::string id = node().create(spec);
  sh(id, "echo kept > kept; chmod 600 kept");
  const BackendSnapshot taken = snapshot(id);
  run(provider().kill(id));
  import_version(store, "two", "1502");
  EXPECT_TRUE(collect().empty()) << "a snapshot needs it";
  CreateSpec again = restoring(taken);
  again.image = "small";
  const std::string restored = node().create(again);
  EXPECT_EQ(sh(restored, "cat /version kept"), "onekept\n");
  EXPECT_EQ(sh(restored, "echo $VERSION; id -u"), "one\n1501\n");
  spec.sandbox_id = make_id("sb");
  EXPECT_EQ(sh(node().create(spec), "cat /version; echo $VERSION; id -u"), "twotwo\n1502\n");
  run(provider().remove_snapshot(taken.backend_id));
  EXPECT_TRUE(collect().empty()) << "a sandbox runs from it";
  run(provider().kill(restored));
  for (int i = 0; i < 500 && collect().empty(); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(images + "/trees"), {}), 1);
}

TEST_F(SnapshotsTest, OutlivesItsSandboxAndItsNode) {
  const std::string id = node().create();
  out(id, "echo kept > ~/file");
  const BackendSnapshot taken = snapshot(id);
  run(provider().kill(id));
  node().kill();
  node().start();
  EXPECT_EQ(out(restore(taken), "cat ~/file"), "kept\n");
}

TEST_F(SnapshotsTest, ThePausedStaysPausedAndAdoptedOnesCanBeCopied) {
  const std::string id = node().create();
  out(id, "echo before > ~/file");
  node().kill();
  node().start();
  run(provider().pause(id, Keeps::memory));
  const BackendSnapshot taken = snapshot(id);
  EXPECT_EQ(run(provider().find(id))->state, BackendState::paused);
  EXPECT_EQ(out(restore(taken), "cat ~/file"), "before\n");
  run(provider().resume(id));
  EXPECT_EQ(out(id, "cat ~/file"), "before\n");
}

TEST_F(SnapshotsTest, FitsItsTenantAndItsSizeOnly) {
  const BackendSnapshot taken = snapshot(node().create());
  CreateSpec larger = restoring(taken);
  larger.resources.disk_gib = 2;
  EXPECT_EQ(code_of(provider().create(larger)), ErrorCode::invalid);
  CreateSpec foreign = restoring(taken);
  foreign.tenant_id = "tn-other";
  EXPECT_EQ(code_of(provider().create(foreign)), ErrorCode::not_found);
  CreateSpec strange = restoring(taken);
  strange.snapshot = "../disks/x";
  EXPECT_EQ(code_of(provider().create(strange)), ErrorCode::not_found);
}

TEST_F(SnapshotsTest, ANodeKilledInTheMiddleLeavesWholeOnesAndNothingElse) {
  const std::string id = node().create();
  out(id, "head -c 60000000 /dev/urandom > ~/big; sync");
  const std::string digest = out(id, "sha256sum < ~/big");
  for (int round = 0; round < 6; ++round) {
    std::thread taker([&] {
      try {
        for (int i = 0; i < 100; ++i) snapshot(id);
      } catch (const Error&) {
        // the node died: what we want
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(40 + 29 * round));
    ::kill(node().pid(), SIGKILL);
    taker.join();
    node().kill();
    node().start();
    EXPECT_EQ(out(id, "echo ok"), "ok\n") << "it goes on, round " << round;
    const std::set<std::string> all = files();
    for (const std::string& name : all) {
      const std::string stem = name.substr(0, name.find('.'));
      EXPECT_TRUE(all.contains(stem + ".img") && all.contains(stem + ".json")) << name;
      run(provider().remove_snapshot(stem));
    }
    EXPECT_TRUE(files().empty());
  }
  EXPECT_EQ(out(restore(snapshot(id)), "sha256sum < ~/big"), digest);
}

TEST_F(SnapshotsTest, WhoeverWantsASandboxThatIsCopiedKeepsNobodyElseWaiting) {
  const SmallDisk& disk = node().move_to_small_disk(400);
  const std::string id = node().create(), other = node().create();
  FrozenDisk frozen = disk.freeze();
  std::thread taker([&] { snapshot(id); });
  while (code_of(provider().resume(id)) != ErrorCode::conflict) std::this_thread::yield();
  std::vector<std::thread> impatient;
  std::atomic<int> refused{0};
  for (int i = 0; i < 8; ++i)
    impatient.emplace_back([&] {
      if (code_of(provider().resume(id)) == ErrorCode::conflict) ++refused;
    });
  for (std::thread& one : impatient) one.join();
  EXPECT_EQ(code_of(provider().extend(id, 600s)), std::nullopt) << "its time may be over first";
  EXPECT_EQ(code_of(provider().extend(other, 600s)), std::nullopt);
  EXPECT_EQ(refused, 8);
  frozen.end();
  taker.join();
  EXPECT_EQ(code_of(provider().resume(id)), std::nullopt);
}

TEST_F(SnapshotsTest, ANodeThatIsToldToStopDoesNotFinishACopy) {
  const std::string id = node().create();
  out(id, "head -c 400000000 /dev/zero | tr '\\0' x > ~/big");
  std::optional<ErrorCode> code;
  std::thread taker(
      [&] { code = code_of(provider().snapshot(id, make_id("sn"), Keeps::disk, true)); });
  for (int i = 0; i < 10'000 && files().empty(); ++i) std::this_thread::sleep_for(1ms);
  node().stop();
  taker.join();
  EXPECT_TRUE(files().empty() || !code) << "it was made before";
  node().start();
  EXPECT_EQ(out(id, "wc -c < ~/big"), "400000000\n") << "the sandbox goes on";
}

// A tenant has two copies at a time; the third waits.
TEST_F(SnapshotsTest, WhoeverLeavesTheQueueGetsNoSnapshot) {
  const SmallDisk& disk = node().move_to_small_disk(400);
  const std::string first = node().create(), second = node().create(), third = node().create();
  FrozenDisk frozen = disk.freeze();
  std::thread one([&] { snapshot(first); }), two([&] { snapshot(second); });
  for (const std::string& id : {first, second})
    while (code_of(provider().resume(id)) != ErrorCode::conflict) std::this_thread::yield();
  const std::string unwanted = make_id("sn");
  auto waiting = provider().snapshot(third, unwanted, Keeps::disk, true);
  EXPECT_EQ(code_of(within(200ms, std::move(waiting))), ErrorCode::timeout);
  frozen.end();
  one.join();
  two.join();
  for (int i = 0; i < 3; ++i) snapshot(first);
  EXPECT_FALSE(files().contains(unwanted + ".img"));
  EXPECT_FALSE(run(provider().find_snapshot(unwanted)));
}

// However long its end takes.
TEST_F(SnapshotsTest, OfWhatIsBeingEndedThereAreNone) {
  const std::string id = node().create();
  const JournalRecord record = node().record(id);
  FrozenDisk frozen = node().hold_at_disk(record);
  std::thread killer([&] { code_of(provider().kill(id)); });
  bool waits = false;
  for (int i = 0; i < 250 && !waits; ++i) {
    std::this_thread::sleep_for(20ms);
    waits = is_dying(record.pid);
  }
  const auto code = code_of(provider().snapshot(id, make_id("sn"), Keeps::disk, true));
  frozen.end();
  killer.join();
  EXPECT_TRUE(waits) << "for a process that waits for its disk";
  EXPECT_EQ(code, ErrorCode::not_found);
}

TEST_F(SnapshotsTest, AKillDoesNotWaitForTheCopy) {
  const std::string id = node().create();
  out(id, "head -c 400000000 /dev/zero | tr '\\0' x > ~/big");
  std::optional<ErrorCode> code;
  std::thread taker(
      [&] { code = code_of(provider().snapshot(id, make_id("sn"), Keeps::disk, true)); });
  std::this_thread::sleep_for(100ms);
  run(provider().kill(id));
  taker.join();
  const auto found = run(provider().find(id));
  EXPECT_TRUE(!found || found->state == BackendState::gone);
  EXPECT_TRUE(files().empty() || !code) << "half a snapshot is none";
}

}  // namespace
}  // namespace sandgate::test
