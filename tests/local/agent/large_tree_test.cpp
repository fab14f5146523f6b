// Work on trees that takes long, in the worker itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/files/archive.hpp"
#include "local/agent/files/file_change.hpp"
#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_read.hpp"
#include "local/agent/files/file_session.hpp"
#include "tests/support/run.hpp"

namespace sandgate::agent {
namespace {

using Operation = void (*)(FileSession&, FileRequest&);

struct Ran {
  std::string code;
  std::vector<FrameType> first;  // frames that were sent, up to two
};

// Runs an operation that says every so often, by default at every look, that it goes on.
Ran run_with_signs(Operation operation, const Json& document, bool is_client_there = true,
                   std::chrono::seconds every = std::chrono::seconds(0)) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {"no sockets", {}};
  const Fd own(ends[0]);
  Fd client(ends[1]);
  if (!is_client_there) client.reset();
  FileSession session(own.get(), FrameParser(), every);
  Problems problems;
  ObjectReader reader(document, problems);
  FileRequest request{reader, problems, "/"};
  Ran ran{"none", {}};
  try {
    operation(session, request);
  } catch (const Error& error) {
    ran.code = std::string(to_string(error.code));
    if (!error.fields.empty()) ran.code += " " + error.fields.front().path;
  }
  FrameParser parser;
  while (is_client_there && ran.first.size() < 2) {
    const std::span<char> room = parser.prepare();
    const ssize_t got = ::recv(client.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    parser.commit(static_cast<size_t>(got));
    while (const auto frame = parser.next()) ran.first.push_back(frame->type);
  }
  ran.first.resize(std::min<size_t>(ran.first.size(), 2));
  return ran;
}

class LargeTreeTest : public ::testing::Test {
 protected:
  LargeTreeTest() {
    std::filesystem::create_directories(tree() + "/sub/empty");
    for (int i = 0; i < 100; ++i) std::ofstream(tree() + "/sub/" + std::to_string(i)) << i;
    shared_ = "/dev/shm/" + std::filesystem::path(directory_.path()).filename().string();
  }
  ~LargeTreeTest() override { std::filesystem::remove_all(shared_); }

  std::string tree() const { return directory_.path() + "/tree"; }
  bool has_two_file_systems() const {
    struct stat own, other;
    return ::stat("/dev/shm", &other) == 0 && ::stat(tree().c_str(), &own) == 0 &&
           own.st_dev != other.st_dev;
  }
  static size_t entries_below(const std::string& path) {
    const auto all = std::filesystem::recursive_directory_iterator(path);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  test::TempDirectory directory_;
  std::string shared_;  // in another file system
};

const std::vector<FrameType> kSignFirst{FrameType::bytes, FrameType::bytes};

TEST_F(LargeTreeTest, ItsWorkerSaysThatItGoesOn) {
  EXPECT_EQ(run_with_signs(list_files, {{"path", tree()}, {"depth", 3}}).first, kSignFirst);
  EXPECT_EQ(run_with_signs(read_archive, {{"path", tree()}}).first, kSignFirst);
  if (has_two_file_systems()) {
    EXPECT_EQ(run_with_signs(move_file, {{"from", tree()}, {"to", shared_}}).first, kSignFirst);
  }
  const std::string last = std::filesystem::exists(tree()) ? tree() : shared_;
  const Json removal{{"path", last}, {"recursive", true}};
  EXPECT_EQ(run_with_signs(remove_file, removal).first, kSignFirst);
  EXPECT_FALSE(std::filesystem::exists(last));
}

TEST_F(LargeTreeTest, AMoveEndsWithItsClientAndChangesNothing) {
  if (!has_two_file_systems())
    GTEST_SKIP() << "needs /dev/shm on another file system than the temporary files";
  const size_t before = entries_below(tree());
  std::filesystem::create_directory(shared_);
  const Json request{{"from", tree()}, {"to", shared_ + "/new"}};
  EXPECT_EQ(run_with_signs(move_file, request, false).code, "unavailable");
  EXPECT_EQ(entries_below(tree()), before);
  EXPECT_EQ(entries_below(shared_), 0u);
}

TEST_F(LargeTreeTest, ARemovalOutlivesItsClient) {
  run_with_signs(remove_file, {{"path", tree()}, {"recursive", true}}, false);
  EXPECT_FALSE(std::filesystem::exists(tree()));
}

// More names than are read at once.
TEST_F(LargeTreeTest, RemovesADirectoryInParts) {
  const Fd directory(::open(tree().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string file = tree() + "/sub/1";
  for (int i = 0; i < 60'000; ++i) {
    const std::string name = "a-name-" + std::to_string(i);
    ASSERT_EQ(::linkat(AT_FDCWD, file.c_str(), directory.get(), name.c_str(), 0), 0);
  }
  const Json request{{"path", tree()}, {"recursive", true}};
  const Ran ran = run_with_signs(remove_file, request, true, std::chrono::hours(1));
  EXPECT_EQ(ran.code, "none");
  EXPECT_FALSE(std::filesystem::exists(tree()));
}

// In a mount namespace of its own: moves a tree into a file system that is mounted within it.
[[noreturn]] void move_into_itself(const std::string& tree) {
  const std::string inner = tree + "/sub/empty";
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", inner.c_str(), "tmpfs", 0, nullptr) != 0)
    ::_exit(2);
  const Ran ran = run_with_signs(move_file, {{"from", tree}, {"to", inner + "/copy"}});
  ::_exit(ran.code == "invalid /to" && std::filesystem::is_empty(inner) ? 0 : 1);
}

TEST_F(LargeTreeTest, IsNotCopiedIntoItself) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  const pid_t child = ::fork();
  if (child == 0) move_into_itself(tree());
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(entries_below(tree()), 102u);
}

}  // namespace
}  // namespace sandgate::agent
