#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "gateway/core/fd.hpp"
#include "local/image/build.hpp"
#include "local/image/import.hpp"
#include "local/image/layer.hpp"
#include "local/image/run_in_chroot.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

class ImportLimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: the root directory is changed to unpack";
  }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

  // What the refusal of a layout or archive says; empty when there was none.
  std::string refusal_of(const std::string& image) {
    try {
      import_image(store_, "probe", image, [](std::string_view) {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal(const std::vector<Member>& members) {
    const std::string layout = path("layout" + std::to_string(++layouts_));
    write_layout(layout, {tar_of(members)});
    return refusal_of(layout);
  }
  void unpack(const std::string& layer, int64_t bytes, int64_t entries = 10, int64_t names = 100) {
    std::ofstream(path("layer"), std::ios::binary) << layer;
    std::filesystem::create_directories(path("tree"));
    Fd file(open(path("layer").c_str(), O_RDONLY | O_CLOEXEC));
    const auto unpack = [&] {
      UnpackBudget budget{bytes, entries, names};
      apply_layer(file.get(), Unpacker::root, budget);
      return std::string();
    };
    run_in_chroot(path("tree"), unpack, file.get());
  }
  bool nothing_left() const { return std::filesystem::is_empty(path("store/drafts")); }

 private:
  TempDirectory directory_;
  ImageStore store_{directory_.path() + "/store"};
  int layouts_ = 0;
};

TEST_F(ImportLimitsTest, AnImageMayNotGrowWithoutEnd) {
  // 32 MiB of zeros are 32 KiB of gzip.
  const std::string bomb = tar_of({{"bomb", Member::file, std::string(32 << 20, '\0')}}, true);
  ASSERT_LT(bomb.size(), 200'000u);
  EXPECT_THROW(unpack(bomb, 16 << 20), Error);
  EXPECT_THROW(unpack(bomb, 64 << 20, 0), Error);
  EXPECT_THROW(unpack(bomb, 64 << 20, 10, 4), Error) << "of five bytes";
  EXPECT_NO_THROW(unpack(bomb, 64 << 20));
}

TEST_F(ImportLimitsTest, WhatIsReadAgainOrReadOverCounts) {
  const std::string mebibyte(1 << 20, '\0');
  const std::string linked = tar_of({{"b", Member::file, mebibyte}, {"c", Member::hardlink, "b"}});
  EXPECT_THROW(unpack(linked, (2 << 20) - 1), Error) << "the digest reads it for each of its names";
  EXPECT_NO_THROW(unpack(linked, 2 << 20));
  const std::string removing = tar_of({{".wh.none", Member::file, mebibyte}});
  EXPECT_THROW(unpack(removing, (1 << 20) - 1), Error);
  EXPECT_NO_THROW(unpack(removing, 1 << 20));
}

// A tar archive whose only member says that it has 2^45 bytes.
std::string endless_archive() {
  std::string header = tar_of({{"other", Member::file, "x"}});
  header.replace(124, 12, std::string("\x80\0\0\0\0\0\x20\0\0\0\0\0", 12));
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(header[i]);
  char octal[8];
  std::snprintf(octal, sizeof octal, "%06o", sum);
  return header.replace(148, sizeof octal - 1, octal, sizeof octal - 1);
}

TEST_F(ImportLimitsTest, AnArchivesOtherMembersCount) {
  std::ofstream(path("large.tar"), std::ios::binary) << endless_archive();
  EXPECT_THAT(refusal_of(path("large.tar")), testing::HasSubstr("too large"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(ImportLimitsTest, WhatIsCopiedToAHomeIsBounded) {
  EXPECT_EQ(refusal({{"etc/skel", Member::symlink, "../home"}, {"home/z", Member::file, "z"}}), "");
  EXPECT_THAT(refusal({{"etc/skel/in", Member::directory, "", 0755},
                       {"home/user", Member::symlink, "/etc/skel/in"}}),
              testing::HasSubstr("home directory is in its /etc/skel"));
  std::vector<Member> large{{"etc/skel/0", Member::file, std::string(52 << 20, '\0')}};
  for (const char* name : {"1", "2", "3", "4"})
    large.push_back({std::string("etc/skel/") + name, Member::hardlink, "etc/skel/0"});
  EXPECT_THAT(refusal(large), testing::HasSubstr("/etc/skel is too large"));
  std::string deep;
  for (int i = 0; i < 150; ++i) deep += "/d";
  EXPECT_THAT(refusal({{"etc/skel" + deep, Member::directory, "", 0755},
                       {"way" + deep, Member::directory, "", 0755},
                       {"home/user", Member::symlink, "/way" + deep}}),
              testing::HasSubstr("/etc/skel is too large"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(ImportLimitsTest, ATreeThatCannotBeWrittenIsNotPrepared) {
  std::filesystem::create_directory(path("tree"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{1, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);
  const auto code = code_of([&] { prepare_tree(path("tree"), ImageConfig{}); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sandgate::test
