// Archives that a tenant uploads: the worst of them end in an answer, and the sandbox lives on.
#include "tests/local/image/oci_builder.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

class ArchiveBombsTest : public SandboxTest {
 protected:
  static std::string unpacked(const std::string& bytes) {
    TextBytes source(bytes);
    try {
      run(node().provider().write_archive(id(), "/home/user/out", source));
    } catch (const Error& error) {
      return "refused";
    }
    return "unpacked";
  }
};

TEST_F(ArchiveBombsTest, HostileMembersAreRefused) {
  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += "d/";
  const std::vector<std::vector<Member>> archives = {
      {{"../../etc/planted", Member::file, "x"}},
      {{"/etc/planted", Member::file, "x"}},
      {{"l", Member::symlink, "/etc"}, {"l/planted", Member::file, "x"}},
      {{"h", Member::hardlink, "/etc/passwd"}},
      {{"h", Member::hardlink, "../../../etc/passwd"}},
      {{"d", Member::device, ""}},
      {{"p", Member::pipe, ""}},
      {{std::string(256, 'n'), Member::file, ""}},
      {{deep + "f", Member::file, ""}},
  };
  for (const auto& members : archives)
    EXPECT_EQ(unpacked(tar_of(members)), "refused") << members.front().name.substr(0, 40);
  EXPECT_EQ(output("ls /etc/planted 2>/dev/null; stat -c %h /etc/passwd"), "1");
}

TEST_F(ArchiveBombsTest, StrangeNamesAndModesAreOnlyThat) {
  shell("rm -rf out");
  EXPECT_EQ(unpacked(tar_of({{std::string(255, 'n'), Member::file, "1"},
                             {"new\nline", Member::file, "2"},
                             {"\x1b]0;title\x07", Member::file, "3"},
                             {"suid", Member::file, "4", 06777, 0, 0}})),
            "unpacked");
  EXPECT_EQ(output("cd out; ls | wc -l; stat -c '%a %u' suid"), "5\n777 1000");
}

TEST_F(ArchiveBombsTest, WhatDoesNotFitIsToldAndGone) {
  // Two gibibytes into a disk of one: the sizes are claimed, the bytes come as zeros.
  class Zeros : public ByteSource {
   public:
    Task<size_t> read(std::span<char> into) override {
      if (!head_.empty()) {
        const size_t count = std::min(into.size(), head_.size());
        std::copy_n(head_.data(), count, into.data());
        head_.erase(0, count);
        co_return count;
      }
      const size_t count = std::min<uint64_t>(into.size(), left_);
      std::fill_n(into.data(), count, '\0');
      left_ -= count;
      co_return count;
    }
    std::string head_ = tar_of({{"big", Member::file, "x"}}).substr(0, 512);
    uint64_t left_ = uint64_t{2} << 30;
  } zeros;
  // size and checksum of the header, by hand
  zeros.head_.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\x80\0\0\0", 12));
  unsigned sum = 0;
  zeros.head_.replace(148, 8, 8, ' ');
  for (const char c : zeros.head_) sum += static_cast<unsigned char>(c);
  char field[9];
  std::snprintf(field, sizeof field, "%06o", sum);
  zeros.head_.replace(148, 7, field, 7);
  CreateSpec spec = node().spec();
  const std::string full = node().create(spec);
  try {
    run(node().provider().write_archive(full, "/home/user/out", zeros));
    ADD_FAILURE() << "two gibibytes went into one";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code == ErrorCode::quota_exceeded || error.code == ErrorCode::too_large)
        << error.what();
  }
  EXPECT_EQ(node().shell(full, "ls -A out | wc -l; echo x > y && cat y").out, "0\nx\n");
  run(node().provider().kill(full));
}

TEST_F(ArchiveBombsTest, ADeepTreeIsListedPackedAndRemovedOrRefused) {
  const std::string deep = node().create();
  node().python(deep,
                "import os\nos.chdir('/tmp')\n"
                "for i in range(3000):\n  os.mkdir('d'); os.chdir('d')\n");
  try {
    run(node().provider().list_files(deep, "/tmp", 8));
    run(node().provider().remove(deep, "/tmp/d", true));
  } catch (const Error&) {
    // a refusal is an answer
  }
  EXPECT_EQ(node().shell(deep, "echo alive").out, "alive\n");
  run(node().provider().kill(deep));
}

}  // namespace
}  // namespace sandgate::test
