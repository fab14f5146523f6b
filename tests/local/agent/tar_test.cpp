#include <gtest/gtest.h>

#include <random>

#include "gateway/core/error.hpp"
#include "local/agent/files/tar_reader.hpp"
#include "local/agent/files/tar_writer.hpp"

namespace sandgate::agent {
namespace {

std::string member(TarEntry entry, const std::string& content = "") {
  entry.size = content.size();
  return tar_header(entry) + content + std::string(tar_padding(content.size()), '\0');
}

struct Read {
  TarEntry entry;
  std::string content;
};

std::vector<Read> read(const std::string& bytes, size_t step) {
  TarReader reader;
  std::vector<Read> all;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.push(std::string_view(bytes).substr(at, step));
    while (const auto event = reader.next()) {
      if (const auto* entry = std::get_if<TarEntry>(&*event)) all.push_back({*entry, ""});
      if (const auto* content = std::get_if<TarContent>(&*event))
        all.back().content += content->bytes;
    }
  }
  reader.finish();
  return all;
}

TEST(TarTest, KeepsTimesOfAnyCentury) {
  for (const int64_t time : {int64_t{-86'400}, int64_t{0}, int64_t{1} << 33, int64_t{1} << 36}) {
    const auto all = read(member({.name = "f", .mtime = time}) + member({.name = "g"}), 512);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].entry.mtime, time);
    EXPECT_EQ(all[1].entry.mtime, 0);
  }
}

TEST(TarTest, ComesBackInAnyCutting) {
  const std::string deep = std::string(120, 'd') + "/" + std::string(200, 'n');
  const std::string bytes =
      member({.name = "dir/", .type = TarType::directory, .mode = 0750}) +
      member({.name = deep, .mode = 0600, .mtime = 1234567890}, std::string(1500, 'x')) +
      member({.name = "link", .type = TarType::symlink, .target = std::string(300, 't')}) +
      member({.name = "empty"}) + tar_end();
  for (size_t step : {1u, 511u, 512u, 100'000u}) {
    const auto all = read(bytes, step);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].entry.type, TarType::directory);
    EXPECT_EQ(all[0].entry.mode, 0750u);
    EXPECT_EQ(all[1].entry.name, deep);
    EXPECT_EQ(all[1].entry.mtime, 1234567890);
    EXPECT_EQ(all[1].content, std::string(1500, 'x'));
    EXPECT_EQ(all[2].entry.target, std::string(300, 't'));
    EXPECT_EQ(all[3].content, "");
  }
}

TEST(TarTest, RefusesDamage) {
  const std::string good = member({.name = "file"}, "content") + tar_end();
  EXPECT_NO_THROW(read(good, 512));
  for (size_t at : {0u, 100u, 124u, 148u, 156u}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] + 1);
    EXPECT_THROW(read(bad, 512), Error) << at;
  }
  EXPECT_THROW(read(good.substr(0, 515), 512), Error);
  EXPECT_THROW(read(std::string(600, 'x'), 512), Error);
}

TEST(TarTest, RefusesANameThatNoFileCanHave) {
  const std::string record = std::string("14 path=a") + '\0' + "bcd\n";
  ASSERT_EQ(record.size(), 14u);
  std::string header = member({.name = "pax", .type = TarType::file}, record);
  header[156] = 'x';
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  EXPECT_THROW(read(header + member({.name = "file"}) + tar_end(), 512), Error);
}

TEST(TarTest, SaysThatAnArchiveIsCompressed) {
  const std::string magic = "\x1f\x8b\x08";
  for (const size_t size : {10u, 512u, 2000u}) try {
      read(magic + std::string(size, 'x'), 512);
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("gzip"), std::string::npos) << error.what();
    }
  const auto all = read(member({.name = magic}, "content") + tar_end(), 512);
  EXPECT_EQ(all.at(0).entry.name, magic) << "a name may begin so";
}

TEST(TarTest, RandomChangesNeverBreakTheReader) {
  std::mt19937 random(11);
  const std::string good =
      member({.name = std::string(150, 'n')}, std::string(700, 'c')) + tar_end();
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      read(bytes, 1 + random() % 600);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::invalid);
    }
  }
}

}  // namespace
}  // namespace sandgate::agent
