#include "gateway/cli/tree.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include <archive.h>
#include <archive_entry.h>

#include "gateway/cli/terminal/pipe.hpp"
#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

namespace fs = std::filesystem;

struct TreeTest : testing::Test {
  TreeTest() : root(testing::TempDir() + "cli-tree-" + std::to_string(::getpid())) {
    fs::create_directories(root / "from/deep");
    fs::create_directories(root / "to");
  }
  ~TreeTest() override { fs::remove_all(root); }

  void write(const fs::path& path, const std::string& text) { std::ofstream(root / path) << text; }
  std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(root / path).rdbuf();
    return text.str();
  }
  // A tar stream with one entry, as a hostile sandbox would make it.
  static std::string one_entry(const std::string& name, unsigned type, const std::string& link = "",
                               int (*set_format)(archive*) = &archive_write_set_format_ustar) {
    std::string bytes(10240, '\0');
    size_t used = 0;
    auto* writer = archive_write_new();
    set_format(writer);
    archive_write_open_memory(writer, bytes.data(), bytes.size(), &used);
    auto* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 06755);
    archive_entry_set_size(entry, 0);
    if (type == AE_IFLNK) archive_entry_set_symlink(entry, link.c_str());
    archive_write_header(writer, entry);
    archive_entry_free(entry);
    archive_write_close(writer);
    archive_write_free(writer);
    bytes.resize(used);
    return bytes;
  }
  void carry_over() {
    Pipe out(Pipe::Direction::from_thread, [this](int fd) { pack(root / "from", fd); });
    Pipe in(Pipe::Direction::to_thread, [this](int fd) { unpack(fd, root / "to"); });
    char block[4096];
    while (const size_t got = out.read(block, sizeof block)) in.write({block, got});
    in.finish();
  }
  void unpack_one(const std::string& name, unsigned type, const std::string& link = "") {
    Pipe tar(Pipe::Direction::to_thread, [this](int fd) { unpack(fd, root / "to"); });
    tar.write(one_entry(name, type, link));
    tar.finish();
  }

  fs::path root;
};

TEST_F(TreeTest, ComesBackAsItWas) {
  write("from/a.txt", "hello");
  write("from/deep/b", std::string(300'000, 'b'));
  fs::permissions(root / "from/a.txt", fs::perms(0750));
  fs::create_symlink("deep/b", root / "from/link");

  carry_over();

  EXPECT_EQ(read("to/a.txt"), "hello");
  EXPECT_EQ(read("to/deep/b").size(), 300'000u);
  EXPECT_EQ(fs::status(root / "to/a.txt").permissions(), fs::perms(0750));
  EXPECT_EQ(fs::read_symlink(root / "to/link"), "deep/b");
  EXPECT_EQ(bytes_below(root / "from"), 300'005u);
}

// In any locale: not UTF-8, and in two pieces what some would put together.
TEST_F(TreeTest, NamesKeepTheirBytes) {
  const std::string deep(150, 'd');
  for (const std::string& name : {std::string("\xc3\xa4\xc3\xb6.txt"), std::string("A\xcc\x88"),
                                  std::string("\xff\xfe"), deep + "\xc3\xa4", deep + "\xff"}) {
    write("from/" + name, name);
    fs::create_symlink(name, root / ("from/" + name + ".link"));
  }

  carry_over();

  for (const auto& entry : fs::directory_iterator(root / "from"))
    EXPECT_TRUE(fs::exists(root / "to" / entry.path().filename())) << entry.path();
  EXPECT_EQ(read("to/\xff\xfe"), "\xff\xfe");
  EXPECT_EQ(fs::read_symlink(root / ("to/" + deep + "\xff.link")), deep + "\xff");
}

// Other programs write names as pax records.
TEST_F(TreeTest, NamesOfPaxKeepTheirBytes) {
  const std::string name = std::string(150, 'd') + "\xc3\xa4\xff";
  Pipe tar(Pipe::Direction::to_thread, [this](int fd) { unpack(fd, root / "to"); });
  tar.write(one_entry(name, AE_IFREG, "", &archive_write_set_format_pax));
  tar.finish();
  EXPECT_TRUE(fs::exists(root / "to" / name));
}

TEST_F(TreeTest, WhatFailsIsNotSentAsComplete) {
  write("from/a", std::string(300'000, 'a'));
  std::string sent;
  Pipe out(Pipe::Direction::from_thread, [this](int fd) { pack(root / "from", fd); });
  char block[4096];
  const auto read_all = [&] {
    while (const size_t got = out.read(block, sizeof block)) {
      if (sent.empty()) fs::resize_file(root / "from/a", 10);
      sent.append(block, got);
    }
  };
  EXPECT_THROW(read_all(), Error);
  EXPECT_LT(sent.size(), 300'000u);
}

TEST_F(TreeTest, WhatCannotBeWrittenIsAnError) {
  write("from/a", std::string(300'000, 'a'));
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  EXPECT_THROW(pack(root / "from", full), Error);
  fs::resize_file(root / "from/a", 10);  // fails only when the archive is closed
  EXPECT_THROW(pack(root / "from", full), Error);
  ::close(full);
}

// What a writer holds is a block of 64 KiB, which the sanitizer's run would report as well.
TEST_F(TreeTest, WhatFailsLeavesNoMemoryBehind) {
  write("from/a", std::string(300'000, 'a'));
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const auto held = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
  EXPECT_THROW(pack(root / "from", full), Error);
  const size_t before = held();
  for (int i = 0; i < 50; ++i) EXPECT_THROW(pack(root / "from", full), Error);
  EXPECT_LT(held(), before + 20 * (64 << 10));
  ::close(full);
}

TEST_F(TreeTest, PipesAreLeftOutAndNamed) {
  ASSERT_EQ(::mkfifo((root / "from/deep/fifo").c_str(), 0600), 0);
  write("from/a", "a");
  std::vector<fs::path> left_out;
  {
    Pipe out(Pipe::Direction::from_thread, [&](int fd) { left_out = pack(root / "from", fd); });
    char block[4096];
    while (out.read(block, sizeof block) > 0) continue;
  }
  EXPECT_EQ(left_out, std::vector<fs::path>{"deep/fifo"});
}

TEST_F(TreeTest, NothingLeadsOutside) {
  EXPECT_THROW(unpack_one("../evil", AE_IFREG), Error);
  EXPECT_THROW(unpack_one("/tmp/evil", AE_IFREG), Error);
  EXPECT_THROW(unpack_one("a/../../evil", AE_IFREG), Error);
  EXPECT_FALSE(fs::exists(root / "evil"));
}

TEST_F(TreeTest, NothingIsWrittenThroughALink) {
  unpack_one("link", AE_IFLNK, root.string());
  EXPECT_THROW(unpack_one("link/evil", AE_IFREG), Error);
  EXPECT_FALSE(fs::exists(root / "evil"));
}

TEST_F(TreeTest, SetUidBitsAndDevicesStayBehind) {
  unpack_one("tool", AE_IFREG);
  EXPECT_EQ(fs::status(root / "to/tool").permissions() & fs::perms(06000), fs::perms::none);
  unpack_one("device", AE_IFCHR);
  EXPECT_FALSE(fs::exists(root / "to/device"));
}

TEST_F(TreeTest, WhatIsNoArchiveIsAnError) {
  Pipe tar(Pipe::Direction::to_thread, [this](int fd) { unpack(fd, root / "to"); });
  EXPECT_THROW(
      {
        tar.write(std::string(4096, 'x'));
        tar.finish();
      },
      Error);
}

// As libarchive and others write it: blocks of zeros, long after the end mark was read.
TEST_F(TreeTest, PaddingMayArriveLate) {
  Pipe tar(Pipe::Direction::to_thread, [this](int fd) { unpack(fd, root / "to"); });
  const std::string block(512, '\0');
  tar.write(one_entry("late", AE_IFREG));
  for (int i = 0; i < 512; ++i) tar.write(block);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (int i = 0; i < 512; ++i) tar.write(block);
  tar.finish();
  EXPECT_TRUE(fs::exists(root / "to/late"));
}

}  // namespace
}  // namespace sandgate::cli
