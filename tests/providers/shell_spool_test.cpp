#include "providers/shell/shell_spool.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"
#include "tests/providers/shell_output.hpp"
#include "tests/support/run.hpp"

namespace sandgate::shell {
namespace {

std::string output_of(const std::string& line) { return test::shell_output(line).out; }

class ShellSpool : public testing::Test {
 protected:
  void SetUp() override { setenv("TMPDIR", directory_.path().c_str(), 1); }
  void TearDown() override { unsetenv("TMPDIR"); }

  void spool(const std::string& id, const std::string& line) {
    output_of(spool_line({.shell = line, .process_id = id}));
  }
  std::string spooled(const std::string& id) {
    return directory_.path() + "/.sandgate/" + id + ".d";
  }
  Fetched fetch(const std::string& id, uint64_t out = 0, uint64_t err = 0) {
    return read_fetched(output_of(fetch_line(id, out, err)));
  }
  test::TempDirectory directory_;
};

TEST_F(ShellSpool, OutputsAndTheStatusMayBeFetchedAgain) {
  spool("pr1", R"(printf 'a\0\377'; printf err >&2; exit 7)");
  for (int turn = 0; turn < 2; ++turn) {
    const Fetched all = fetch("pr1");
    EXPECT_EQ(all.out, std::string("a\0\xFF", 3));
    EXPECT_EQ(all.err, "err");
    EXPECT_EQ(all.status, 7);
  }
  EXPECT_EQ(output_of("ls " + spooled("pr1")), "end\ntold\n");
}

TEST_F(ShellSpool, WhatWasFetchedIsRemovedByALaterCommand) {
  spool("pr1", "echo");
  fetch("pr1");
  spool("pr2", "echo");
  EXPECT_EQ(output_of("ls " + directory_.path() + "/.sandgate"), "pr1.d\npr2.d\n");
  output_of("touch -d '10 minutes ago' " + spooled("pr1") + "/told");
  spool("pr3", "echo");
  EXPECT_EQ(output_of("ls " + directory_.path() + "/.sandgate"), "pr2.d\npr3.d\n");
}

TEST_F(ShellSpool, LargeOutputComesInPiecesAndTheStatusWithTheLast) {
  spool("pr1", "head -c 400000 /dev/zero; head -c 10 /dev/zero >&2");
  std::string out, err;
  for (int fetches = 1;; ++fetches) {
    const Fetched piece = fetch("pr1", out.size(), err.size());
    out += piece.out;
    err += piece.err;
    if (!piece.status) continue;
    EXPECT_EQ(fetches, 3);
    break;
  }
  EXPECT_EQ(out, std::string(400'000, '\0'));
  EXPECT_EQ(err, std::string(10, '\0'));
}

TEST_F(ShellSpool, WhatRunsIsFetchedMeanwhile) {
  std::string line =
      spool_line({.shell = "echo go; while [ ! -e stop ]; do sleep 0.02; done; echo end",
                  .cwd = directory_.path(),
                  .process_id = "pr1"});
  output_of("(" + line + ") >/dev/null 2>&1 &");
  const Fetched first = fetch("pr1");
  EXPECT_EQ(first.out, "go\n");
  EXPECT_TRUE(first.known);
  EXPECT_FALSE(first.status);
  output_of(": > " + directory_.path() + "/stop");
  std::string rest;
  for (;;) {
    const Fetched piece = fetch("pr1", 3 + rest.size());
    rest += piece.out;
    if (!piece.status) continue;
    EXPECT_EQ(piece.status, 0);
    break;
  }
  EXPECT_EQ(rest, "end\n");
}

TEST(ShellSpoolRead, HostileTextIsNoFetch) {
  EXPECT_EQ(read_fetched("\n\n0\n").status, 0);
  EXPECT_FALSE(read_fetched("\n\ngone\n").known);
  for (const std::string text : {"", "\n", "\n\n", "\n\n0", "\n\n\n", "?\n\n0\n", "\n\n1x\n",
                                 "\n\n99999999999\n", "a b\n\nmore\n"})
    EXPECT_THROW(read_fetched(text), Error) << text;
  EXPECT_THROW(read_fetched(std::string((kSpoolPiece + 3) / 3 * 4, 'A') + "\n\nmore\n"), Error);
}

}  // namespace
}  // namespace sandgate::shell
