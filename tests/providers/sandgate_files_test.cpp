#include <gtest/gtest.h>

#include "providers/sandgate/sandgate.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

constexpr const char* kEntry = R"({"name":"n","path":"/n","type":"file","size":0,"mode":"0644",)"
                               R"("modified_at":"2026-11-22T10:00:00.000Z"})";

// The entry of an empty file of which the first byte is asked for, so that the answers begin with a
// refusal.
FileEntry entry_after(std::deque<HttpReply> answers) {
  test::LiveLoop loop;
  test::ScriptedClient http;
  http.script(std::move(answers));
  auto provider = std::make_shared<SandgateProvider>(
      http, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  FileContent content = loop.run(provider->read_file("sb1", "n", {0, 0}));
  std::array<char, 16> piece;
  EXPECT_EQ(loop.run(content.bytes->read(piece)), 0u);
  return content.entry;
}

TEST(SandgateFiles, HaveTheirTagAlsoWhenARangeLiesOutside) {
  const FileEntry entry = entry_after(
      {{416, {{"ETag", "\"0-1-r\""}, {"X-Sandgate-Entry", kEntry}}, R"({"code":"invalid"})"}});
  EXPECT_EQ(entry.revision, "0-1-r");
  EXPECT_EQ(entry.path, "/n");
}

TEST(SandgateFiles, AreAskedForWhereARefusalHasNoEntry) {
  const FileEntry entry = entry_after({{416, {}, "{}"}, {200, {}, kEntry}});
  EXPECT_EQ(entry.revision, "");
  EXPECT_EQ(entry.path, "/n");
}

}  // namespace
}  // namespace sandgate
