#include "gateway/cli/upload_source.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

struct UploadSourceTest : testing::Test {
  UploadSourceTest() : path(testing::TempDir() + "cli-upload-" + std::to_string(::getpid())) {
    std::ofstream(path) << std::string(40'000, 'a');
  }
  ~UploadSourceTest() override { std::filesystem::remove(path); }

  std::string path;
};

std::string all_of(UploadSource& source) {
  std::string bytes, piece(16'384, '\0');
  while (const size_t got = source.read(piece.data(), piece.size())) bytes.append(piece, 0, got);
  return bytes;
}

TEST_F(UploadSourceTest, AFileHasASizeAndAMode) {
  std::filesystem::permissions(path, static_cast<std::filesystem::perms>(0640));
  UploadSource source(path);
  EXPECT_EQ(source.size(), 40'000u);
  EXPECT_EQ(source.mode(), "0640");
  EXPECT_EQ(all_of(source), std::string(40'000, 'a'));
}

// As a log does that is written to.
TEST_F(UploadSourceTest, WhatIsAppendedMeanwhileIsNotSent) {
  UploadSource source(path);
  std::ofstream(path, std::ios::app) << "late";
  EXPECT_EQ(all_of(source), std::string(40'000, 'a'));
}

TEST_F(UploadSourceTest, AFileThatBecomesShorterFails) {
  UploadSource source(path);
  std::filesystem::resize_file(path, 100);
  EXPECT_THROW(all_of(source), Error);
}

TEST_F(UploadSourceTest, AFileThatTheKernelMakesUpIsReadToItsEnd) {
  UploadSource source("/proc/self/status");
  EXPECT_EQ(source.size(), std::nullopt);
  EXPECT_NE(all_of(source).find("Pid:"), std::string::npos);
}

TEST_F(UploadSourceTest, WhatCannotBeReadIsNotTakenForAnEnd) {
  UploadSource source("/proc/self/mem");
  EXPECT_THROW(all_of(source), Error);
}

TEST_F(UploadSourceTest, WhatIsNotThereIsToldAtOnce) {
  EXPECT_THROW(UploadSource("/nonexistent/file"), Error);
}

}  // namespace
}  // namespace sandgate::cli
