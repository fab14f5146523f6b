#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>

#include "local/agent/files/file_write.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

class FilesTest : public AgentTest {
 protected:
  FileEntry write(std::string path, std::string bytes, uint32_t mode = 0644) {
    TextBytes source(std::move(bytes));
    return go([&] { return client_.write_file(path, mode, source); });
  }
  std::string write_refusal(std::string path) {
    TextBytes source("text");
    return go([&] { return refusal(client_.write_file(path, 0644, source)); });
  }
  std::string read(std::string path, ByteRange range = {}) {
    return go([&]() -> Task<std::string> {
      auto content = co_await client_.read_file(path, range);
      co_return co_await read_all(*content.bytes);
    });
  }
  std::string read_refusal(std::string path) {
    return go([&] { return refusal(client_.read_file(path, ByteRange())); });
  }
  std::string names(std::string path, int depth) {
    std::string all;
    for (const FileEntry& entry : go([&] { return client_.list_files(path, depth); }))
      all += entry.path.substr(home().size() + 1) + " ";
    return all;
  }
};

TEST_F(FilesTest, WritesAndReadsBytesUnchanged) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i * 7);
  const FileEntry entry = write("new/deep/file.bin", bytes, 0640);
  EXPECT_EQ(entry.path, home() + "/new/deep/file.bin");
  EXPECT_EQ(entry.name, "file.bin");
  EXPECT_EQ(entry.size, bytes.size());
  EXPECT_EQ(entry.mode, 0640u);
  EXPECT_EQ(read("new/deep/file.bin"), bytes);
  EXPECT_EQ(read("new/deep/file.bin", {.first = 5, .last = 9}), bytes.substr(5, 5));
  EXPECT_EQ(read("new/deep/file.bin", {.first = 299'990}), bytes.substr(299'990));
  EXPECT_EQ(read("new/deep/file.bin", {.first = 999'999}), "");
  EXPECT_EQ(write("empty", "").size, 0u);
  EXPECT_EQ(read("empty"), "");
  EXPECT_EQ(names("new/deep", 1), "new/deep/file.bin ");
}

TEST_F(FilesTest, WhereSpaceIsScarceBytesAreTheSame) {
  int asked = 0;
  const AgentClient careful(socket_path(), [&] { return ++asked > 2; });
  const std::string bytes(40 << 20, 'b');
  TextBytes large(bytes), small("small");
  EXPECT_EQ(go([&] { return careful.write_file("large", 0644, large); }).size, bytes.size());
  EXPECT_EQ(asked, 3) << "now and then, and never again once it is";
  EXPECT_EQ(read("large"), bytes);
  EXPECT_EQ(go([&] { return careful.write_file("dir/small", 0640, small); }).mode, 0640u);
  EXPECT_EQ(read("dir/small"), "small");
}

TEST_F(FilesTest, SaysWhyAFileCannotBeRead) {
  exec("mkdir dir; mkfifo pipe; touch secret; chmod 0 secret; ln -s loop loop");
  EXPECT_EQ(read_refusal("missing"), "not_found");
  EXPECT_EQ(read_refusal("dir"), "invalid /path");
  EXPECT_EQ(read_refusal("pipe"), "invalid /path");
  EXPECT_EQ(read_refusal("/dev/null"), "invalid /path");
  EXPECT_EQ(read_refusal("loop"), "invalid /path");
  EXPECT_EQ(read_refusal("/proc/self/exe"), "invalid /path");
  EXPECT_EQ(read_refusal("secret"), "forbidden");
  EXPECT_EQ(read_refusal(std::string("a\0b", 3)), "invalid /path");
  EXPECT_EQ(read_refusal(std::string(5000, 'a')), "invalid /path");
  if (is_root()) {
    EXPECT_EQ(read_refusal("/etc/shadow"), "forbidden");
  }
}

TEST_F(FilesTest, WritesWhatALinkNamesAndNeverADirectory) {
  exec("mkdir dir; echo old > real; ln -s real link; ln -s dir/later dangling; mkfifo pipe");
  write("link", "new");
  EXPECT_EQ(read("real"), "new");
  write("dangling", "made");
  EXPECT_EQ(read("dir/later"), "made");
  EXPECT_EQ(write_refusal("dir"), "invalid /path");
  EXPECT_EQ(write_refusal("pipe"), "invalid /path");
  EXPECT_EQ(write_refusal("real/under"), "invalid /path");
  if (is_root()) {
    EXPECT_EQ(write_refusal("/etc/sandgate-test"), "forbidden");
  }
}

TEST_F(FilesTest, ABrokenUploadLeavesNothing) {
  class Broken : public ByteSource {
   public:
    Task<size_t> read(std::span<char> into) override {
      if (++reads_ > 3) throw Error(ErrorCode::unavailable, "gone");
      co_return into.size();
    }
    int reads_ = 0;
  } source;
  EXPECT_EQ(go([&] { return refusal(client_.write_file("half", 0644, source)); }), "unavailable");
  EXPECT_TRUE(eventually([&] { return exec("ls -A | wc -l").out == "0\n"; }));
}

// Puts another directory in the place of one while its second chunk is read.
class ReplacingSource : public ByteSource {
 public:
  explicit ReplacingSource(std::string directory) : directory_(std::move(directory)) {}
  Task<size_t> read(std::span<char> into) override {
    if (reads_++ == 1) {
      std::filesystem::rename(directory_, directory_ + ".old");
      std::filesystem::create_directory(directory_);
      std::filesystem::permissions(directory_, std::filesystem::perms::all);  // another's account
    }
    co_return reads_ > 3 ? 0 : into.size();
  }

 private:
  const std::string directory_;
  int reads_ = 0;
};

TEST_F(FilesTest, AnUploadIntoADirectoryThatIsReplacedIsAConflict) {
  exec("mkdir d; ln -s d link");
  for (const char* path : {"d/file", "link/file"}) {
    ReplacingSource source(home() + "/d");
    EXPECT_EQ(go([&] { return refusal(client_.write_file(path, 0644, source)); }), "conflict");
    EXPECT_EQ(exec("ls -A d d.old").out, "d:\n\nd.old:\n") << path << ": a file nobody asked for";
    exec("rmdir d.old");
  }
}

std::set<std::string> entries_of(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename());
  return names;
}

// Looks at a directory before each of its chunks and at its end.
class LookingSource : public ByteSource {
 public:
  explicit LookingSource(std::string directory) : directory_(std::move(directory)) {}
  Task<size_t> read(std::span<char> into) override {
    seen.merge(entries_of(directory_));
    if (chunks_++ == 8) co_return 0;
    std::fill(into.begin(), into.end(), 'n');
    sent += into.size();
    co_return into.size();
  }
  std::set<std::string> seen;
  size_t sent = 0;

 private:
  const std::string directory_;
  int chunks_ = 0;
};

TEST_F(FilesTest, AFileHasNoNameBeforeItIsWhole) {
  const int nameless = ::open(home().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (nameless < 0) GTEST_SKIP() << "no O_TMPFILE in " << home() << ": " << std::strerror(errno);
  ::close(nameless);
  exec("echo old > there");
  for (const char* name : {"new", "there"}) {
    const auto before = entries_of(home());
    LookingSource source(home());
    const FileEntry entry = go([&] { return client_.write_file(name, 0640, source); });
    EXPECT_EQ(source.seen, before) << name;
    EXPECT_EQ(entry.mode, 0640u);
    EXPECT_EQ(read(name), std::string(source.sent, 'n'));
  }
  EXPECT_EQ(entries_of(home()), (std::set<std::string>{"new", "there"}));
}

TEST_F(FilesTest, AProgramCanBeRunOnceItHasItsName) {
  const std::string path = home() + "/program";
  const agent::Place place = agent::open_place(path);
  agent::PendingFile file(place, path);
  file.write("#!/bin/sh\n");
  file.commit(0755, {}, false);
  const Fd program(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Granted only if nobody has it open for writing, which would make execve() fail.
  EXPECT_EQ(::fcntl(program.get(), F_SETLEASE, F_RDLCK), 0) << std::strerror(errno);
}

// For a process of its own, which hides /proc from nobody else.
[[noreturn]] void replace_without_proc(const std::string& directory) noexcept {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", "/proc", "tmpfs", 0, nullptr) != 0)
    ::_exit(2);
  const std::string path = directory + "/file";
  const agent::Place place = agent::open_place(path);
  agent::PendingFile(place, path).write("dropped");
  agent::PendingFile file(place, path);
  file.write("new");
  const auto names = entries_of(directory);
  file.commit(0644, {}, true);
  const bool hidden = names.size() == 2 && agent::is_pending(*names.begin());
  ::_exit(hidden && entries_of(directory) == std::set<std::string>{"file"} ? 0 : 1);
}

TEST_F(FilesTest, WithoutProcAFileIsReplacedAtOnceToo) {
  if (!is_root()) GTEST_SKIP() << "hiding /proc needs root";
  write("file", "old");
  const pid_t child = ::fork();
  if (child == 0) replace_without_proc(home());
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read("file"), "new");
}

TEST_F(FilesTest, ListsSortedToADepth) {
  exec("mkdir -p b/c; touch b/c/d a z; ln -s nowhere y; printf x > \"$(printf 'bad\\377')\"");
  EXPECT_EQ(names(".", 1), "a b bad\xEF\xBF\xBD y z ");
  EXPECT_EQ(names("b", 2), "b/c b/c/d ");
  const FileEntry link = go([&] { return client_.stat("y"); });
  EXPECT_EQ(link.type, FileType::symlink);
  EXPECT_EQ(link.target, "nowhere");
  EXPECT_EQ(go([&] { return refusal(client_.list_files("a", 1)); }), "invalid /path");
  EXPECT_EQ(go([&] { return refusal(client_.list_files("none", 1)); }), "not_found");
  EXPECT_EQ(go([&] { return client_.stat("/"); }).type, FileType::directory);
}

TEST_F(FilesTest, ListsWhatItMayAroundAClosedDirectory) {
  exec("mkdir -p d/names d/none; touch d/names/f d/none/f d/z; chmod 644 d/names; chmod 0 d/none");
  EXPECT_EQ(names("d", 3), "d/names d/none d/z ");
  for (const char* closed : {"d/names", "d/none"})
    EXPECT_EQ(go([&] { return refusal(client_.list_files(closed, 1)); }), "forbidden") << closed;
  exec("chmod 755 d/names d/none");
}

TEST_F(FilesTest, ListsThousands) {
  exec("for i in $(seq 1 3000); do : > file-with-a-longer-name-$i; done");
  EXPECT_EQ(go([&] { return client_.list_files(".", 1); }).size(), 3000u);
}

TEST_F(FilesTest, AListOfLongPathsIsBoundedToo) {
  std::string deep = home() + "/deep";
  for (int i = 0; i < 14; ++i) deep += "/" + std::string(240, 'd');
  std::filesystem::create_directories(deep);
  for (int i = 0; i < 4000; ++i) std::ofstream(deep + "/" + std::to_string(i));
  EXPECT_EQ(go([&] { return client_.list_files(deep, 1); }).size(), 4000u);
  for (int i = 4000; i < 6000; ++i) std::ofstream(deep + "/" + std::to_string(i));
  EXPECT_EQ(go([&] { return refusal(client_.list_files("deep", 16)); }), "too_large");
}

// With a file in each directory, for all accounts.
void dig(const std::string& top, int levels) {
  const mode_t before = ::umask(0);
  ASSERT_EQ(::mkdir(top.c_str(), 0777), 0);
  int at = ::open(top.c_str(), O_PATH | O_CLOEXEC);
  for (int depth = 0; depth < levels; ++depth) {
    ASSERT_EQ(::mkdirat(at, "d", 0777), 0);
    ::close(::openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    const int next = ::openat(at, "d", O_PATH | O_CLOEXEC);
    ::close(at);
    at = next;
  }
  ::close(at);
  ::umask(before);
}

TEST_F(FilesTest, RemovesTreesDeeperThanItMayHaveDescriptors) {
  dig(home() + "/top", 3000);
  go([&] { return client_.remove("top", true); });
  EXPECT_EQ(exec("ls -A").out, "");
}

TEST_F(FilesTest, MakesDirectories) {
  EXPECT_EQ(go([&] { return client_.make_directory("x/y/z"); }).type, FileType::directory);
  EXPECT_EQ(go([&] { return client_.make_directory("x/y"); }).name, "y");
  write("x/file", "1");
  EXPECT_EQ(go([&] { return refusal(client_.make_directory("x/file")); }), "conflict");
  EXPECT_EQ(go([&] { return refusal(client_.make_directory("x/file/y")); }), "invalid /path");
}

TEST_F(FilesTest, Moves) {
  write("one", "1");
  EXPECT_EQ(go([&] { return client_.move("one", "far/away/two"); }).name, "two");
  EXPECT_EQ(read("far/away/two"), "1");
  write("one", "new");
  EXPECT_EQ(go([&] { return refusal(client_.move("one", "far")); }), "conflict");
  EXPECT_EQ(go([&] { return refusal(client_.move("gone", "x/y")); }), "not_found");
  EXPECT_NE(::access((home() + "/x").c_str(), F_OK), 0);
  EXPECT_EQ(go([&] { return refusal(client_.move("far", "far/inside")); }), "invalid /to");
  for (const std::string& from : {std::string("one/below"), std::string(256, 'n')})
    EXPECT_EQ(go([&] { return refusal(client_.move(from, "three")); }), "invalid /from") << from;
}

TEST_F(FilesTest, MovesBetweenFileSystems) {
  struct stat shared, own;
  if (::stat("/dev/shm", &shared) != 0 || ::stat(home().c_str(), &own) != 0 ||
      shared.st_dev == own.st_dev)
    GTEST_SKIP() << "needs /dev/shm on another file system than the temporary files";
  const std::string there = "/dev/shm/sandgate-test-" + std::to_string(agent_pid());
  exec(
      "mkdir -p tree/sub; echo x > tree/sub/f; ln -s f tree/sub/l; chmod 750 tree/sub; touch -d "
      "@86400 tree/sub/f tree/sub");
  go([&] { return client_.move("tree", there); });
  EXPECT_EQ(read(there + "/sub/l"), "x\n");
  go([&] { return client_.move(there, "back"); });
  EXPECT_EQ(read("back/sub/f"), "x\n");
  EXPECT_EQ(go([&] { return client_.stat("back/sub"); }).mode, 0750u);
  EXPECT_EQ(exec("stat -c %Y back/sub back/sub/f").out, "86400\n86400\n");
  EXPECT_NE(::access(there.c_str(), F_OK), 0);
  // What cannot be moved leaves what it was to replace.
  exec("mkdir mixed; echo a > mixed/a; mkfifo mixed/pipe; echo kept > " + there);
  for (const char* from : {"mixed", "mixed/pipe"}) {
    EXPECT_EQ(go([&] { return refusal(client_.move(from, there)); }), "invalid /from") << from;
    EXPECT_EQ(read(there), "kept\n");
  }
  EXPECT_EQ(go([&] { return refusal(client_.move("back", there)); }), "conflict");
  EXPECT_EQ(read("back/sub/f"), "x\n");
  go([&] { return client_.move("mixed/a", there); });
  EXPECT_EQ(read(there), "a\n");
  EXPECT_EQ(exec("rm " + there + "; find /dev/shm -name '.sandgate-*' -user $(id -u)").out, "");
}

TEST_F(FilesTest, MovesTreesDeeperThanItMayHaveDescriptors) {
  struct stat shared, own;
  if (::stat("/dev/shm", &shared) != 0 || ::stat(home().c_str(), &own) != 0 ||
      shared.st_dev == own.st_dev)
    GTEST_SKIP() << "needs /dev/shm on another file system than the temporary files";
  const rlimit few{64, 64};
  ASSERT_EQ(::prlimit(agent_pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  dig(home() + "/top", 500);
  const std::string there = "/dev/shm/sandgate-test-" + std::to_string(agent_pid());
  go([&] { return client_.move("top", there); });
  EXPECT_EQ(exec("ls -A; find " + there + " | wc -l").out, "1001\n");
  go([&] { return client_.move(there, "back"); });
  EXPECT_EQ(exec("ls -A; find back | wc -l; ls " + there + " 2>&- || echo gone").out,
            "back\n1001\ngone\n");
}

// Two removals that meet in the same directories. What the other has removed is gone, which is all
// that was asked for; a "not found" while most is still there would be taken for done.
TEST_F(FilesTest, RemovesWhatOthersRemoveToo) {
  exec(
      "for d in $(seq 60); do mkdir -p tree/$d/in; touch tree/$d/$(seq -s \" tree/$d/\" 40); done");
  const std::string top = home() + "/tree";
  const auto remove = [&] {
    const std::string code = run(refusal(client_.remove("tree", true)));
    const bool is_gone = ::access(top.c_str(), F_OK) != 0;
    return code + (is_gone ? "" : ", and it is there");
  };
  auto other = std::async(std::launch::async, remove);
  const std::set<std::string> codes{remove(), other.get()};
  // The later one may begin when nothing is left.
  EXPECT_TRUE(codes == std::set<std::string>{"none"} ||
              codes == (std::set<std::string>{"none", "not_found"}))
      << *codes.begin() << "; " << *codes.rbegin();
}

// The process that reads is a copy of the agent.
TEST_F(FilesTest, TheAgentsMemoryLayoutIsNotRead) {
  for (const std::string path : {"/proc/self/maps", "/proc/thread-self/maps", "/proc/self/auxv"}) {
    EXPECT_EQ(read_refusal(path), "forbidden") << path;
    EXPECT_EQ(go([&] { return refusal(client_.move(path, "stolen")); }), "forbidden") << path;
  }
  EXPECT_TRUE(read("/proc/self/status").starts_with("Name:"));
  EXPECT_NE(::access((home() + "/stolen").c_str(), F_OK), 0);
}

TEST_F(FilesTest, Removes) {
  exec("mkdir -p full/sub empty keep; touch full/sub/f keep/f; ln -s ../keep full/link");
  EXPECT_EQ(go([&] { return refusal(client_.remove("full", false)); }), "conflict");
  EXPECT_EQ(go([&] { return refusal(client_.remove("full", true)); }), "none");
  EXPECT_EQ(go([&] { return refusal(client_.remove("empty", false)); }), "none");
  EXPECT_EQ(go([&] { return refusal(client_.remove("empty", true)); }), "not_found");
  EXPECT_EQ(go([&] { return refusal(client_.remove("/", true)); }), "forbidden");
  EXPECT_EQ(go([&] { return refusal(client_.remove(".", true)); }), "forbidden");
  EXPECT_EQ(names(".", 2), "keep keep/f ");
}

}  // namespace
}  // namespace sandgate::test
