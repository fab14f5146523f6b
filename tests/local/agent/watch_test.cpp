#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "local/agent/client/client_values.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

class WatchTest : public AgentTest {
 protected:
  void watch(const std::string& path, bool recursive) {
    waiting_.clear();
    watch_ = go([&] { return client_.watch(path, recursive); });
  }
  void upload(std::string path, std::string bytes) {
    TextBytes source(std::move(bytes));
    go([&] { return client_.write_file(path, 0644, source); });
  }
  // What happened, as "create d/f", until this many changes came. A directory's path ends in "/", a
  // symlink's in "@", another special file's in "|".
  std::vector<std::string> next(size_t count) {
    std::vector<std::string> told;
    while (told.size() < count) {
      const auto change = next();
      if (!change) {
        told.push_back("end");
        break;
      }
      const auto below = [&](const std::string& path) {
        return path == home() ? "." : path.substr(std::min(path.size(), home().size() + 1));
      };
      std::string line = std::string(to_string(change->kind)) + " " + below(change->path);
      if (change->type == FileType::directory) line += "/";
      if (change->type == FileType::symlink) line += "@";
      if (change->type == FileType::other) line += "|";
      if (!change->from.empty()) line += " from " + below(change->from);
      told.push_back(line);
    }
    return told;
  }
  using Lines = std::vector<std::string>;

  // Empty: the directory is gone.
  std::optional<FileChange> next() {
    if (waiting_.empty())
      for (FileChange& change : go([&] { return watch_->next(); })) waiting_.push_back(change);
    if (waiting_.empty()) return std::nullopt;
    FileChange change = waiting_.front();
    waiting_.pop_front();
    return change;
  }

  std::unique_ptr<FileWatch> watch_;
  std::deque<FileChange> waiting_;  // of those that came together
};

TEST_F(WatchTest, TellsWhatHappensToFiles) {
  watch(".", false);
  exec("echo 1 > a; mv a b; rm b");
  EXPECT_EQ(next(4), (Lines{"create a", "write a", "rename b from a", "remove b"}));
}

TEST_F(WatchTest, ReachesBelowOnlyWhenAsked) {
  exec("mkdir -p d/e");
  watch(".", false);
  exec("touch d/e/f; touch g");
  EXPECT_EQ(next(1), Lines{"create g"});
  watch(".", true);
  exec("touch d/e/f2");
  EXPECT_EQ(next(1), Lines{"create d/e/f2"});
}

TEST_F(WatchTest, FollowsDirectoriesThatAppearMoveAndLeave) {
  watch(".", true);
  exec("mkdir n; sleep 0.2; touch n/x; mv n m; touch m/y; rm -r m");
  EXPECT_EQ(next(7), (Lines{"create n/", "create n/x", "rename m/ from n", "create m/y",
                            "remove m/x", "remove m/y", "remove m/"}));
}

TEST_F(WatchTest, TellsWhatKindOfFileItIs) {
  watch(".", true);
  exec("ln -s nowhere l; mkfifo p; mkdir d");
  EXPECT_EQ(next(3), (Lines{"create l@", "create p|", "create d/"}));
  exec("mv l d/l; mv p q; echo 1 > f");
  EXPECT_EQ(next(4), (Lines{"rename d/l@ from l", "rename q| from p", "create f", "write f"}));
  exec("rm q d/l");
  EXPECT_EQ(next(2), (Lines{"remove q", "remove d/l"})) << "nobody knows what it was";
}

TEST_F(WatchTest, TellsWhatKindOfFileAppearedTogetherWithItsDirectory) {
  exec("mkdir outside; ln -s nowhere outside/l; mkfifo outside/p; mkdir w");
  watch("w", true);
  exec("mv outside w/d");
  Lines told = next(3);
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (Lines{"create w/d/", "create w/d/l@", "create w/d/p|"}));
}

TEST_F(WatchTest, AnAgentOfAnEarlierReleaseTellsDirectories) {
  const auto type_told = [](bool directory) {
    return agent::to_file_change({{"kind", "create"}, {"path", "/d"}, {"directory", directory}})
        .type;
  };
  EXPECT_EQ(type_told(true), FileType::directory);
  EXPECT_EQ(type_told(false), FileType::file);
}

TEST_F(WatchTest, SeesWhatAppearedTogetherWithItsDirectory) {
  watch(".", true);
  exec("mkdir -p deep/er/est; touch deep/er/est/file");
  std::set<std::string> seen;
  while (!seen.contains("create deep/er/est/file"))
    for (const auto& line : next(1)) seen.insert(line);
  for (const char* line : {"create deep/", "create deep/er/", "create deep/er/est/"})
    EXPECT_TRUE(seen.contains(line)) << line;
}

TEST_F(WatchTest, EndsWithItsDirectory) {
  exec("mkdir w");
  watch("w", false);
  exec("rmdir w");
  EXPECT_EQ(next(2), (Lines{"remove w/", "end"}));
}

// Streams of one sandbox must not keep the gateway busy.
TEST_F(WatchTest, TellsNoMoreThanItMayAndSaysWhenChangesWereLost) {
  exec("mkdir many");
  const auto begin = std::chrono::steady_clock::now();
  watch("many", false);
  // Far more than the kernel keeps.
  exec("cd many; python3 -c 'for i in range(60000): open(str(i), \"w\").close()'");
  size_t bytes = 0;
  for (bool lost = false; !lost;) {
    const auto change = next();
    ASSERT_TRUE(change);
    bytes += change->path.size() + std::string(R"({"kind":"","path":"","type":"file"})").size();
    lost = change->kind == FileChangeKind::overflow;
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(static_cast<double>(bytes) / 1024, 600 + 256 * time.count());
  exec("touch many/after");
  std::string last;
  while (last != "create many/after") last = next(1).front();
}

// Whoever is told that changes were lost looks for itself, and believes the watch again from then
// on.
TEST_F(WatchTest, DirectoriesThatAppearedOrMovedAmongLostChangesAreWatched) {
  exec("mkdir -p w/old/in w/gone");
  watch("w", true);
  // What comes in the middle is lost, and the marks tell when nothing waits any more.
  exec(R"(cd w; exec python3 -c '
import os
for i in range(60000):
  open(f"f{i}", "w").close()
  if i % 1000 == 999: os.makedirs(f"d{i}/in")
  if i == 40000: os.rename("old", "moved"); os.rename("gone", "../gone")')");
  Command marking = shell("cd w; for i in $(seq 1000); do touch mark$i; sleep 0.1; done");
  marking.background = true;
  const auto marks = go([&] { return client_.exec(marking); });
  bool lost = false;
  for (std::string line; !line.starts_with("create w/mark"); line = next(1).front())
    lost = lost || line.starts_with("overflow");
  ASSERT_TRUE(lost);
  exec("cd w; touch ../gone/x moved/in/x; for d in d*; do touch $d/in/x; done; touch last");
  std::set<std::string> told;
  while (!told.contains("create w/last")) told.insert(next(1).front());
  EXPECT_TRUE(told.contains("create w/moved/in/x"));
  EXPECT_FALSE(told.contains("create w/gone/x"));
  const auto is_below_new = [](const std::string& line) { return line.starts_with("create w/d"); };
  EXPECT_EQ(std::ranges::count_if(told, is_below_new), 60);
}

TEST_F(WatchTest, AnEndAmongLostChangesIsTold) {
  exec("mkdir w");
  watch("w", false);
  exec("cd w; python3 -c 'for i in range(40000): open(str(i), \"w\").close()'; rm -r ../w");
  std::string last = next(1).front();
  std::string before;
  while (last != "end") before = std::exchange(last, next(1).front());
  EXPECT_EQ(before, "remove w/");
}

TEST_F(WatchTest, MoreDirectoriesThanAreWatchedAreTold) {
  exec("mkdir w; cd w; seq 8300 | xargs mkdir");
  watch("w", true);
  ASSERT_EQ(next()->kind, FileChangeKind::overflow);
  exec("touch w/last");
  EXPECT_EQ(next(1), Lines{"create w/last"});
}

TEST_F(WatchTest, SeveralWritesAtOnceAreOne) {
  exec("touch a b");
  watch(".", false);
  exec("for i in $(seq 300); do echo 1 >> a; echo 1 >> b; done; touch after");
  size_t writes = 0;
  std::string last;
  for (; last != "create after"; last = next(1).front()) writes += last.starts_with("write");
  EXPECT_GE(writes, 2u);
  EXPECT_LT(writes, 200u) << "of 600";
}

TEST_F(WatchTest, AnUploadAppearsAtOnceAndIsWritten) {
  watch(".", true);
  upload("up", "hello");
  upload("empty", "");
  exec("mkdir d; touch after");
  EXPECT_EQ(next(6), (Lines{"create up", "write up", "create empty", "write empty", "create d/",
                            "create after"}));
}

TEST_F(WatchTest, AnUploadOverAFileIsAWrite) {
  exec("echo 1 > up; echo 1 > own");
  watch(".", false);
  upload("up", "hello");
  EXPECT_EQ(next(1), Lines{"write up"});
  exec("echo 2 >> own");
  EXPECT_EQ(next(1), Lines{"write own"});
  upload("up", "again");
  EXPECT_EQ(next(1), Lines{"write up"});
  exec("touch after");
  EXPECT_EQ(next(1), Lines{"create after"});
}

TEST_F(WatchTest, AnUploadIntoANewDirectoryIsWritten) {
  watch(".", true);
  upload("new/er/up", "hello");
  std::set<std::string> seen;
  while (!seen.contains("write new/er/up")) seen.insert(next(1).front());
  EXPECT_TRUE(seen.contains("create new/er/up"));
}

// An editor that saves by renaming, whether the temporary file is beside the old one or not.
TEST_F(WatchTest, AProgramsOwnReplacementIsARename) {
  exec("mkdir elsewhere; echo 1 > a; echo 1 > b; echo 2 > elsewhere/b");
  watch(".", false);
  exec("echo 2 > a.new; mv a.new a; mv elsewhere/b b; touch after");
  EXPECT_EQ(next(5), (Lines{"create a.new", "write a.new", "rename a from a.new", "create b",
                            "create after"}));
}

// The kernel calls a file without a name like this.
TEST_F(WatchTest, ManyRenamesAreRenames) {
  constexpr int kFiles = 2000;
  watch(home(), false);
  exec(R"(exec python3 -c '
import os
for i in range(2000):
  open(f"f{i}", "w").close()
  os.rename(f"f{i}", f"g{i}")')");
  const auto told = next(2 * kFiles);
  const auto is_rename = [](const std::string& line) { return line.starts_with("rename g"); };
  EXPECT_EQ(std::ranges::count_if(told, is_rename), kFiles);
}

TEST_F(WatchTest, FollowsNewDirectoriesThatMoveAtOnce) {
  constexpr int kDirectories = 200;
  watch(home(), true);
  exec(R"(exec python3 -c '
import os
for i in range(200):
  os.mkdir(f"new{i}")
  os.rename(f"new{i}", f"dir{i}")')");
  next(2 * kDirectories);
  exec("for i in $(seq 0 199); do : > dir$i/f; done; : > last");
  int told = 0;
  for (std::string line = next(1).front(); line != "create last"; line = next(1).front())
    told += line.starts_with("create dir");
  EXPECT_EQ(told, kDirectories);
}

TEST_F(WatchTest, ANameOfANumberIsTold) {
  watch(".", false);
  exec("echo 1 > '#12'; rm '#12'; touch after");
  upload("up", "hello");
  const Lines told = next(5);
  EXPECT_EQ(told.front(), "create #12");
  EXPECT_EQ(std::count(told.begin(), told.end(), "remove #12"), 1);
}

TEST_F(WatchTest, RefusesWhatIsNoDirectory) {
  exec("touch file");
  EXPECT_EQ(go([&] { return refusal(client_.watch("file", false)); }), "invalid /path");
  EXPECT_EQ(go([&] { return refusal(client_.watch("nowhere", true)); }), "not_found");
}

TEST_F(WatchTest, LeavesWorkersForTransfers) {
  std::vector<std::unique_ptr<FileWatch>> watches;
  std::string refused = "none";
  while (refused == "none" && watches.size() < 100) {
    try {
      watches.push_back(go([&] { return client_.watch(".", false); }));
    } catch (const Error& error) {
      refused = to_string(error.code);
    }
  }
  EXPECT_EQ(refused, "unavailable");
  EXPECT_EQ(watches.size(), 32u);
  EXPECT_EQ(go([&] { return client_.stat("."); }).type, FileType::directory);
  watches.clear();
  EXPECT_TRUE(
      eventually([&] { return go([&] { return refusal(client_.watch(".", false)); }) == "none"; }));
}

}  // namespace
}  // namespace sandgate::test
