// How much comes out of archives that others wrote.
#include "local/image/tar_input.hpp"

#include <archive_entry.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"
#include "tests/local/image/oci_builder.hpp"

namespace sandgate::test {
namespace {

Fd file_of(const std::string& bytes) {
  Fd file(memfd_create("archive", MFD_CLOEXEC));
  EXPECT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  return file;
}

std::string compressed(const std::string& bytes, int filter) {
  std::string out(bytes.size() + 4096, '\0');
  size_t used = 0;
  archive* writer = archive_write_new();
  archive_write_set_format_raw(writer);
  archive_write_add_filter(writer, filter);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, out.data(), out.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
  archive_write_data(writer, bytes.data(), bytes.size());
  archive_entry_free(entry);
  archive_write_close(writer);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

// Names of the members; "…" at the end when it broke off, "too large" when that was why.
std::string names_in(int file, int64_t left) {
  const TarInput in(file, left, "no archive");
  std::string names;
  archive_entry* entry = nullptr;
  int result = ARCHIVE_OK;
  while ((result = archive_read_next_header(in.get(), &entry)) == ARCHIVE_OK ||
         result == ARCHIVE_WARN)
    names += std::string(archive_entry_pathname(entry)) + " ";
  if (result == ARCHIVE_EOF) return names;
  return names + (in.too_large() ? "too large" : "…");
}
std::string names_in(const std::string& bytes, int64_t left = 4 << 20) {
  const Fd file = file_of(bytes);
  try {
    return names_in(file.get(), left);
  } catch (const Error& refusal) {
    return refusal.what();
  }
}

const std::vector<Member>& two_members() {
  static const std::vector<Member> members{{"a", Member::file, std::string(1 << 20, 'a')},
                                           {"b", Member::file, "b"}};
  return members;
}

TEST(TarInput, IsPlainOrCompressedOnce) {
  const std::string plain = tar_of(two_members());
  EXPECT_EQ(names_in(plain), "a b ");
  EXPECT_EQ(names_in(tar_of(two_members(), true)), "a b ");
  const std::string zstd = compressed(plain, ARCHIVE_FILTER_ZSTD);
  EXPECT_EQ(names_in(zstd), "a b ");
  const std::string skipped("\x53\x2a\x4d\x18\x04\0\0\0skip", 12);
  EXPECT_EQ(names_in(skipped + zstd), "a b ") << "behind a frame that is to be skipped";
  EXPECT_EQ(names_in(compressed(tar_of(two_members(), true), ARCHIVE_FILTER_GZIP)), "no archive");
  EXPECT_EQ(names_in(compressed(zstd, ARCHIVE_FILTER_ZSTD)), "no archive");
  EXPECT_EQ(names_in(""), "");
  EXPECT_EQ(names_in("x"), "no archive");
  EXPECT_EQ(names_in(plain.substr(0, 600'000)), "a …");
}

TEST(TarInput, ComesFromAPipeInPieces) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Fd out(ends[0]);
  Fd in(ends[1]);
  const std::string bytes = tar_of({{"a", Member::file, "a"}}, true);
  const pid_t writer = fork();
  if (writer == 0) {
    for (const char byte : bytes) (void)!write(in.get(), &byte, 1);
    _exit(0);
  }
  in.reset();
  EXPECT_EQ(names_in(out.get(), 1 << 20), "a ");
  waitpid(writer, nullptr, 0);
}

TEST(TarInput, WhatIsReadOverCounts) {
  const std::string plain = tar_of(two_members()), gzip = tar_of(two_members(), true);
  const auto all = static_cast<int64_t>(plain.size());
  for (const std::string& bytes : {plain, gzip}) {
    EXPECT_EQ(names_in(bytes, all), "a b ");
    EXPECT_EQ(names_in(bytes, 700'000), "a too large");
    EXPECT_EQ(names_in(bytes, 0), "too large");
  }
}

// The header of a member that is followed by `stored` bytes and claims to be a file of `size`.
std::string sparse_header(const std::string& name, int64_t size, int64_t stored) {
  std::string header(512, '\0');
  const auto put = [&](size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  const auto octal = [](int64_t number, int digits) {
    char text[16];
    std::snprintf(text, sizeof text, "%0*lo", digits, static_cast<long>(number));
    return std::string(text);
  };
  put(0, name);
  put(100, octal(0644, 7));
  put(124, octal(stored, 11));
  put(148, "        S");
  put(257, "ustar  ");
  put(386, octal(0, 11));
  put(398, octal(stored, 11));
  put(483, octal(size, 11));
  int64_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(148, octal(sum, 6));
  return header;
}

// A sparse member says how large its file is, and apart from that how much of it the archive has.
TEST(TarInput, TheSizeOfAFileIsNotWhatTheArchiveHasOfIt) {
  std::string bytes = sparse_header("hole", 0, 8 << 20) + std::string(8 << 20, '\0');
  bytes += tar_of({{"b", Member::file, "b"}});
  EXPECT_EQ(names_in(bytes, 16 << 20), "hole b ");
  EXPECT_EQ(names_in(bytes, 4 << 20), "hole too large");
}

}  // namespace
}  // namespace sandgate::test
