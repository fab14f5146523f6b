#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "local/agent/files/tar_writer.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using agent::TarEntry;
using agent::TarType;

class ArchiveTest : public AgentTest {
 protected:
  static std::string member(TarEntry entry, const std::string& content = "") {
    entry.size = content.size();
    return agent::tar_header(entry) + content +
           std::string(agent::tar_padding(content.size()), '\0');
  }
  static constexpr const char* kWrongBody = "invalid ";  // of the body as a whole
  // The refusal, as refusal() tells it, of an archive of these members, unpacked into "out".
  std::string unpack(const std::string& members) {
    TextBytes source(members + agent::tar_end());
    return go([&] { return refusal(client_.write_archive("out", source)); });
  }
  // What the refusal says is wrong.
  std::vector<FieldProblem> problems_of(const std::string& members) {
    TextBytes source(members + agent::tar_end());
    return go([&]() -> Task<std::vector<FieldProblem>> {
      auto writing = client_.write_archive("out", source);
      const auto outcome = co_await attempt(std::move(writing));
      const auto* error = std::get_if<Error>(&outcome);
      co_return error ? error->fields : std::vector<FieldProblem>();
    });
  }
  // Directories within each other, so many with names of so many bytes each, and in the last
  // "file".
  void dig(const std::string& top, std::vector<std::pair<int, int>> levels) {
    std::string names = "[\"" + top + "\"]";
    for (const auto& [count, bytes] : levels)
      names += " + [\"d\" * " + std::to_string(bytes) + "] * " + std::to_string(count);
    const auto done = exec("python3 -c 'import os\nfor name in " + names +
                           ":\n  os.mkdir(name)\n  os.chdir(name)\n"
                           "open(\"file\", \"w\").write(\"text\")'");
    ASSERT_EQ(done.exit.exit_code, 0) << done.err;
  }
  static std::string longest(int bytes) { return std::to_string(bytes + 1) + "\n"; }
  std::string pack(std::string path) {
    return go([&]() -> Task<std::string> {
      auto source = co_await client_.read_archive(path);
      co_return co_await read_all(*source);
    });
  }
};

TEST_F(ArchiveTest, GoesRound) {
  exec(
      "mkdir -p in/sub in/$(printf 'd%.0s' $(seq 1 180)); seq 1 50000 > in/sub/numbers; "
      "echo x > in/$(printf 'd%.0s' $(seq 1 180))/$(printf 'f%.0s' $(seq 1 200)); "
      "chmod 751 in/sub; chmod 4755 in/sub/numbers; ln -s sub/numbers in/link; mkfifo in/pipe");
  const std::string tar = pack("in");
  std::ofstream(directory_.path() + "/in.tar", std::ios::binary) << tar;
  ::chmod((directory_.path() + "/in.tar").c_str(), 0644);
  // The system's own tar agrees with both directions.
  exec("mkdir other; tar -C other -xf ../in.tar; rm in/pipe");
  EXPECT_EQ(exec("diff -r in other && readlink other/link && stat -c %a other/sub").out,
            "sub/numbers\n751\n");
  TextBytes source(tar);
  go([&] { return client_.write_archive("out/new", source); });
  EXPECT_EQ(exec("diff -r in out/new && stat -c %a out/new/sub/numbers out/new/sub").out,
            "755\n751\n");
}

TEST_F(ArchiveTest, FilesKeepTheirTime) {
  const std::string tar = member({.name = "file", .mode = 0644, .mtime = 1'000'000'000}, "text");
  EXPECT_EQ(unpack(tar), "none");
  EXPECT_EQ(exec("stat -c %Y out/file").out, "1000000000\n");
}

TEST_F(ArchiveTest, TakesWhatTheSystemPacks) {
  exec(
      "mkdir -p in/$(printf 'd%.0s' $(seq 1 90)); echo hard > in/a; ln in/a in/b; "
      "echo x > in/$(printf 'd%.0s' $(seq 1 90))/$(printf 'f%.0s' $(seq 1 90))");
  for (const std::string format : {"gnu", "pax", "ustar"}) {
    exec("tar --format=" + format + " -C in -cf " + format + ".tar .; rm -rf out");
    std::ifstream file(home() + "/" + format + ".tar", std::ios::binary);
    const std::string tar{std::istreambuf_iterator<char>(file), {}};
    TextBytes source(tar);
    EXPECT_EQ(go([&] { return refusal(client_.write_archive("out", source)); }), "none") << format;
    EXPECT_EQ(exec("diff -r in out && stat -c %h out/b").out, "2\n") << format;
  }
}

TEST_F(ArchiveTest, TakesFilesFromBefore1970) {
  exec("mkdir in; touch -d @-86400 in/old");
  for (const std::string format : {"gnu", "pax"}) {
    const std::string tar = exec("rm -rf out; tar --format=" + format + " -C in -cf - old").out;
    EXPECT_EQ(unpack(tar), "none") << format;
    EXPECT_EQ(exec("stat -c %Y out/old").out, "-86400\n") << format;
  }
}

// What is left of it would otherwise be unpacked with zeros that nobody wrote.
TEST_F(ArchiveTest, AFileThatBecomesShorterBreaksItOff) {
  exec("mkdir in; truncate -s 64M in/big");
  const std::string outcome = go([&]() -> Task<std::string> {
    const auto source = co_await client_.read_archive("in");
    std::array<char, 4096> begin;
    EXPECT_GT(co_await source->read(begin), 0u);
    std::filesystem::resize_file(home() + "/in/big", 1000);
    co_return co_await refusal(read_all(*source));
  });
  EXPECT_EQ(outcome, "unavailable");
}

TEST_F(ArchiveTest, OneFileIsAnArchiveToo) {
  exec("echo text > one");
  EXPECT_EQ(pack("one").substr(0, 4), std::string("one\0", 4));
  EXPECT_EQ(go([&] { return refusal(client_.read_archive("none")); }), "not_found");
}

TEST_F(ArchiveTest, GoesRoundHoweverDeep) {
  dig("in", {{400, 1}});
  const std::string tar = pack("in");
  std::ofstream(directory_.path() + "/in.tar", std::ios::binary) << tar;
  ::chmod((directory_.path() + "/in.tar").c_str(), 0644);
  EXPECT_EQ(exec("mkdir other; tar -C other -xf ../in.tar; diff -r in other && echo same").out,
            "same\n");
  TextBytes source(tar);
  go([&] { return client_.write_archive("out", source); });
  EXPECT_EQ(exec("diff -r in out && echo same").out, "same\n");
  EXPECT_EQ(exec("find out -type f -printf '%P\\n' | wc -c; rm -rf in other out").out,
            longest(2 * 400 + 4));
}

// It is the path that is too long, and that is told before the first byte.
TEST_F(ArchiveTest, IsAsDeepAsAPathMayBeLong) {
  dig("fits", {{15, 255}, {1, 250}});  // 15 * 256 + 251 and "file"
  TextBytes source(pack("fits"));
  go([&] { return client_.write_archive("out", source); });
  EXPECT_EQ(exec("cd out && find . -type f -printf '%P\\n' | wc -c").out, longest(4095));
  dig("deep", {{15, 255}, {1, 251}});
  EXPECT_EQ(go([&] { return refusal(client_.read_archive("deep")); }), "too_large");
  std::string name = "x";
  for (int i = 0; i < 2048; ++i) name.insert(0, "d/");
  EXPECT_EQ(unpack(member({.name = name})), kWrongBody) << "what is packed can be unpacked";
  exec("rm -rf fits out deep");
}

// However much stands before it.
TEST_F(ArchiveTest, WhatMayNotBeReadIsNamedBeforeTheFirstByte) {
  exec(
      "mkdir -p in/sub/closed; head -c 3000000 /dev/zero > in/a; echo x > in/sub/secret; "
      "chmod 0 in/sub/secret in/sub/closed");
  const auto why = [&]() -> std::string {
    return go([&]() -> Task<std::string> {
      auto reading = client_.read_archive("in");
      const auto outcome = co_await attempt(std::move(reading));
      const auto* error = std::get_if<Error>(&outcome);
      co_return error ? std::string(to_string(error->code)) + " " + error->what() : "none";
    });
  };
  EXPECT_NE(why().find(home() + "/in/sub/closed"), std::string::npos) << why();
  exec("rmdir in/sub/closed; mkdir in/sub/read; echo x > in/sub/read/file; chmod 444 in/sub/read");
  EXPECT_NE(why().find(home() + "/in/sub/read"), std::string::npos) << why();
  exec("chmod 755 in/sub/read; rm -r in/sub/read");
  EXPECT_EQ(why().substr(0, 9), "forbidden");
  EXPECT_NE(why().find(home() + "/in/sub/secret"), std::string::npos) << why();
  exec("rm in/sub/secret; ln -s nowhere in/sub/link; mkfifo in/sub/pipe");
  EXPECT_EQ(why(), "none");
}

TEST_F(ArchiveTest, NothingLeavesTheDirectory) {
  exec("mkdir outside; echo safe > outside/file");
  EXPECT_EQ(unpack(member({.name = "../escaped"}, "x")), kWrongBody);
  EXPECT_EQ(unpack(member({.name = "a/../../escaped"}, "x")), kWrongBody);
  EXPECT_EQ(unpack(member({.name = home() + "/escaped"}, "x")), kWrongBody);
  EXPECT_EQ(unpack(member({.name = "s", .type = TarType::symlink, .target = "../outside"}) +
                   member({.name = "s/file"}, "bad")),
            kWrongBody);
  EXPECT_EQ(unpack(member({.name = "h", .type = TarType::hardlink, .target = "../outside/file"})),
            kWrongBody);
  EXPECT_EQ(unpack(member({.name = "t", .type = TarType::symlink, .target = "../outside/file"}) +
                   member({.name = "h", .type = TarType::hardlink, .target = "t"})),
            kWrongBody);
  EXPECT_EQ(exec("ls; cat outside/file").out, "out\noutside\nsafe\n");
}

// The body is wrong, of which the archive is the whole.
TEST_F(ArchiveTest, WhatLeadsOutIsAProblemOfTheBody) {
  for (const std::string& tar : {member({.name = "../escaped"}, "x"), std::string(1024, 'x')}) {
    const auto refused = problems_of(tar);
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_EQ(refused[0].path, "");
    EXPECT_EQ(refused[0].message.substr(0, 11), "the archive");
  }
}

TEST_F(ArchiveTest, SaysWhatIsInTheWayOfAMember) {
  const auto why = [&](const std::string& members) {
    const auto refused = problems_of(members);
    return refused.empty() ? "none" : refused[0].message;
  };
  EXPECT_NE(why(member({.name = "f"}, "x") + member({.name = "f/below"})).find("no directory"),
            std::string::npos);
  EXPECT_NE(why(member({.name = "s", .type = TarType::symlink, .target = "."}) +
                member({.name = "s/below"}))
                .find("symlink"),
            std::string::npos);
}

TEST_F(ArchiveTest, ReplacesALinkInsteadOfFollowingIt) {
  exec("mkdir out; echo safe > target; ln -s ../target out/name");
  EXPECT_EQ(unpack(member({.name = "name"}, "new")), "none");
  EXPECT_EQ(exec("cat target out/name").out, "safe\nnew");
}

TEST_F(ArchiveTest, OpensADirectoryThatIsClosed) {
  exec("mkdir -p out/d; chmod 0 out/d");
  const std::string directory =
      agent::tar_header({.name = "d/", .type = agent::TarType::directory, .mode = 0750});
  EXPECT_EQ(unpack(directory + member({.name = "d/file"}, "text")), "none");
  EXPECT_EQ(exec("stat -c %a out/d; cat out/d/file").out, "750\ntext");
}

TEST_F(ArchiveTest, RefusesDevicesAndNonsense) {
  std::string device = member({.name = "null"});
  device[156] = '3';
  unsigned sum = 0;
  std::fill_n(device.begin() + 148, 8, ' ');
  for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(device[i]);
  char field[8];
  std::snprintf(field, sizeof field, "%06o", sum);
  device.replace(148, 7, field, 7);
  EXPECT_EQ(unpack(device), kWrongBody);
  EXPECT_EQ(unpack(std::string(2048, 'x')), kWrongBody);
  EXPECT_EQ(unpack(member({.name = std::string(300, 'n')}, "x")), kWrongBody);
}

}  // namespace
}  // namespace sandgate::test
