#include "gateway/cli/commands/copy.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/core/ids.hpp"
#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::cli {
namespace {

TEST(CopyPath, AnIdAndAColonIsASandbox) {
  const std::string id = make_id("sb");

  const CopyPath place = copy_path_from(id + ":/tmp/a:b");

  EXPECT_EQ(place.sandbox, id);
  EXPECT_EQ(place.path, "/tmp/a:b");
}

TEST(CopyPath, AnythingElseIsLocal) {
  for (const std::string path : {"a.txt", "./x:y", "C:stuff", "sb:short", "/tmp"}) {
    EXPECT_EQ(copy_path_from(path).sandbox, "");
    EXPECT_EQ(copy_path_from(path).path, path);
  }
}

TEST(Copy, AFileGoesToStandardOutput) {
  const std::string id = make_id("sb");
  const std::string bytes("one\0two\n", 8);
  ScriptedServer server(
      [&](const auto&) { return ScriptedServer::of_type("application/octet-stream", bytes); });

  const Told told = tell(server.url(), {"cp", "--json", (id + ":a.bin").c_str(), "-"});

  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.output, bytes);
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/" + id + "/files?path=a.bin");
}

TEST(Copy, StandardInputBecomesAFile) {
  const std::string id = make_id("sb");
  const std::string bytes = std::string(100'000, 'x') + '\0' + "end";
  std::istringstream input(bytes);
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });

  std::streambuf* before = std::cin.rdbuf(input.rdbuf());
  const Told told = tell(server.url(), {"cp", "-", (id + ":a.bin").c_str()});
  const Told nameless = tell(server.url(), {"cp", "-", (id + ":notes/").c_str()});
  std::cin.rdbuf(before);
  std::cin.clear();

  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(nameless.exit_code, 2);
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].method, "PUT");
  EXPECT_EQ(server.requests()[0].target, "/v1/sandboxes/" + id + "/files?path=a.bin");
  EXPECT_EQ(server.requests()[0].body, bytes);
}

// As a directory's files do. An account's rights are not copied with them.
TEST(Copy, ADownloadedFileKeepsItsPermissions) {
  const std::string target = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  for (const auto& [mode, wanted] : std::map<std::string, unsigned>{
           {"0755", 0755}, {"0600", 0600}, {"0444", 0444}, {"6777", 0777}, {"04x", 0600}}) {
    // What stat says of a symbolic link is not what it leads to.
    ScriptedServer server([&](const auto& request) {
      if (request.target.find("/stat?") != std::string::npos)
        return ScriptedServer::json(200, R"({"type":"symlink","mode":"0777"})");
      return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Sandgate-Entry: {\"mode\":\"" + mode +
             "\"}\r\nConnection: close\r\n\r\nhi";
    });
    const Told told = tell(server.url(), {"cp", (make_id("sb") + ":a").c_str(), target.c_str()});
    EXPECT_EQ(told.exit_code, 0);
    EXPECT_EQ(std::filesystem::status(target).permissions(),
              static_cast<std::filesystem::perms>(wanted))
        << mode;
    std::filesystem::remove(target);
  }
}

// As cp does.
TEST(Copy, ADirectoryThatIsThereIsCopiedInto) {
  const std::string id = make_id("sb");
  const std::string source = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  std::ofstream(source) << "hello";
  ScriptedServer server([](const auto& request) {
    if (request.target.find("/stat?") == std::string::npos) return ScriptedServer::json(200, "{}");
    return ScriptedServer::json(200, R"({"type":"directory"})");
  });
  EXPECT_EQ(tell(server.url(), {"cp", source.c_str(), (id + ":there").c_str()}).exit_code, 0);
  EXPECT_NE(server.requests().back().target.find("path=there%2Fcli-copy-"), std::string::npos);
  std::remove(source.c_str());
}

TEST(Copy, AFileNameThatIsNoTextIsToldInJson) {
  const std::string target = make_id("sb") + ":there";
  const std::string stem = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  const std::string source = stem + "\xFF";
  std::ofstream(source) << "hello";
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });

  const Told told = tell(server.url(), {"cp", "--json", source.c_str(), target.c_str()});
  std::remove(source.c_str());
  testing::internal::CaptureStderr();
  const Told gone = tell(server.url(), {"cp", "--json", source.c_str(), target.c_str()});
  const std::string problem = testing::internal::GetCapturedStderr();

  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(Json::parse(told.output).at("from"), stem + "\xEF\xBF\xBD");
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_EQ(Json::parse(problem).at("detail"),
            "cannot read " + stem + "\xEF\xBF\xBD: No such file or directory");
}

TEST(Copy, APlaceThatCannotBeMadeIsTold) {
  const std::string file = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  std::ofstream(file) << "no directory";
  ScriptedServer server(
      [](const auto&) { return ScriptedServer::json(200, R"({"type":"directory"})"); });

  testing::internal::CaptureStderr();
  const Told told = tell(
      server.url(), {"cp", "--json", (make_id("sb") + ":a").c_str(), (file + "/below").c_str()});
  const Json problem = Json::parse(testing::internal::GetCapturedStderr());
  std::remove(file.c_str());

  EXPECT_EQ(told.exit_code, 1);
  EXPECT_EQ(problem.at("detail"), "cannot use " + file + "/below: Not a directory");
}

TEST(Copy, AFullDiskEndsTheTransfer) {
  const std::string target = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit full{500'000, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  // Who reads on is told of the missing half.
  ScriptedServer server([](const auto& request) {
    if (request.target.find("/stat?") != std::string::npos)
      return ScriptedServer::json(200, R"({"type":"file","size":2000000})");
    return "HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\nConnection: close\r\n\r\n" +
           std::string(1'000'000, 'x');
  });

  testing::internal::CaptureStderr();
  const Told told =
      tell(server.url(), {"cp", "--json", (make_id("sb") + ":a").c_str(), target.c_str()});
  const Json problem = Json::parse(testing::internal::GetCapturedStderr());
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);

  EXPECT_EQ(told.exit_code, 1);
  EXPECT_EQ(problem.at("detail"), "cannot write all of " + target);
  EXPECT_FALSE(std::filesystem::exists(target));
  EXPECT_FALSE(std::filesystem::exists(target + ".sandgate-partial"));
}

TEST(Copy, AnInterruptedCopyLeavesNothing) {
  const std::string target = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  const std::string partial = target + ".sandgate-partial";
  bool was_there = false;
  ScriptedServer server([&](const auto& request) {
    if (request.target.find("/stat?") != std::string::npos)
      return ScriptedServer::json(200, R"({"type":"file","size":2000000})");
    request.send("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" +
                 std::string(1'000'000, 'x'));
    const auto is_there = [&] { return std::filesystem::exists(partial); };
    was_there = test::eventually(is_there);
    ::kill(::getpid(), SIGINT);
    test::eventually([&] { return !is_there(); });
    return std::string();
  });

  const Told told = tell(server.url(), {"cp", (make_id("sb") + ":a").c_str(), target.c_str()});
  reset_interrupts();

  EXPECT_EQ(told.exit_code, kEndedBySignal + SIGINT);
  EXPECT_TRUE(was_there);
  EXPECT_FALSE(std::filesystem::exists(partial));
  EXPECT_FALSE(std::filesystem::exists(target));
}

// A sandbox whose only file says "theirs".
std::string one_file(const ScriptedServer::Request& request) {
  if (request.target.find("/stat?") != std::string::npos)
    return ScriptedServer::json(200, R"({"type":"file","size":6})");
  return "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ntheirs";
}

TEST(Copy, ALinkThatSomebodyPutForItLeadsNowhere) {
  const std::string target = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  const std::string elsewhere = target + ".elsewhere";
  std::ofstream(elsewhere) << "mine";
  std::filesystem::create_symlink(elsewhere, target + ".sandgate-partial");
  ScriptedServer server(one_file);

  const Told told = tell(server.url(), {"cp", (make_id("sb") + ":a").c_str(), target.c_str()});

  EXPECT_EQ(told.exit_code, 0);
  EXPECT_FALSE(std::filesystem::is_symlink(target));
  std::stringstream copied, kept;
  copied << std::ifstream(target).rdbuf();
  kept << std::ifstream(elsewhere).rdbuf();
  EXPECT_EQ(copied.str(), "theirs");
  EXPECT_EQ(kept.str(), "mine");
  std::filesystem::remove(target);
  std::filesystem::remove(elsewhere);
}

// A file would take its place for all programs: as root, even that of /dev/null.
TEST(Copy, APipeIsWrittenToAndStays) {
  const std::string target = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(target.c_str(), 0600), 0);
  ScriptedServer server(one_file);
  std::stringstream read;
  std::thread reader([&] { read << std::ifstream(target).rdbuf(); });

  const Told told = tell(server.url(), {"cp", (make_id("sb") + ":a").c_str(), target.c_str()});
  reader.join();

  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(read.str(), "theirs");
  EXPECT_TRUE(std::filesystem::is_fifo(target));
  std::filesystem::remove(target);
}

TEST(Copy, ALinkIsWrittenThroughAndStays) {
  const std::string file = testing::TempDir() + "cli-copy-" + std::to_string(::getpid());
  const std::string link = file + ".link";
  std::ofstream(file) << "of before";
  std::filesystem::create_symlink(file, link);
  ScriptedServer server(one_file);

  const Told told = tell(server.url(), {"cp", (make_id("sb") + ":a").c_str(), link.c_str()});

  EXPECT_EQ(told.exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::stringstream copied;
  copied << std::ifstream(file).rdbuf();
  EXPECT_EQ(copied.str(), "theirs");
  std::filesystem::remove(link);
  std::filesystem::remove(file);
}

TEST(Copy, AFileOfUnknownSizeIsSentWhole) {
  const std::string target = make_id("sb") + ":status";
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });

  const Told told = tell(server.url(), {"cp", "/proc/self/status", target.c_str()});

  EXPECT_EQ(told.exit_code, 0);
  EXPECT_NE(server.requests().back().body.find("Pid:"), std::string::npos);
}

TEST(Copy, WhatIsNotNamedIsTheWorkingDirectory) {
  const std::string id = make_id("sb");
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(404, R"({"code":"not_found","detail":"no such file"})");
  });
  tell(server.url(), {"cp", (id + ":").c_str(), "there"});
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/" + id + "/files/stat?path=.");
}

TEST(Copy, AFailedDownloadToStandardOutputFails) {
  const std::string id = make_id("sb");
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(404, R"({"code":"not_found","detail":"no such file"})");
  });
  const Told told = tell(server.url(), {"cp", (id + ":a.bin").c_str(), "-"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_EQ(told.output, "");
}

}  // namespace
}  // namespace sandgate::cli
