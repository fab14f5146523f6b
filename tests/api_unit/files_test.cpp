#include <functional>
#include <optional>
#include <utility>

#include "tests/api_unit/box_test.hpp"

namespace sandgate::test {
namespace {

using FilesApi = BoxTest;

std::string field(const HttpReply& reply, std::string_view name) {
  return std::string(find_field(reply.headers, name).value_or(""));
}

Task<void> yielded() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
}

TEST_F(FilesApi, PutAndGetRoundTrip) {
  const auto put = send("PUT", "/files?path=a/b.txt&mode=0600", "hello");
  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(Json::parse(put.body)["mode"], "0600");
  const auto get = send("GET", "/files?path=a/b.txt");
  EXPECT_EQ(get.status, 200);
  EXPECT_EQ(get.body, "hello");
  EXPECT_FALSE(field(get, "ETag").empty());
}

TEST_F(FilesApi, WritesKeepToTheirConditions) {
  const auto put = [&](const char* body, HttpFields headers) {
    return send("PUT", "/files?path=n", body, std::move(headers));
  };
  const auto made = put("one", {{"If-None-Match", "*"}});
  EXPECT_EQ(made.status, 200);
  const std::string first = field(made, "ETag");
  EXPECT_EQ(first, field(send("GET", "/files?path=n"), "ETag"));
  const auto again = put("two", {{"If-None-Match", "*"}});
  EXPECT_EQ(again.status, 412);
  EXPECT_EQ(Json::parse(again.body)["code"], "conflict");
  EXPECT_EQ(put("second", {{"If-Match", first}}).status, 200);
  EXPECT_EQ(put("third", {{"If-Match", first}}).status, 412) << "somebody else was faster";
  EXPECT_EQ(send("GET", "/files?path=n").body, "second");
  EXPECT_EQ(send("PUT", "/files?path=none", "x", {{"If-Match", "*"}}).status, 412);
}

// An upload during which another request arrives.
class InterruptedUpload : public ByteSource {
 public:
  explicit InterruptedUpload(std::function<Task<void>()> arrives) : arrives_(std::move(arrives)) {}
  Task<size_t> read(std::span<char> into) override {
    const auto executor = co_await asio::this_coro::executor;
    if (!std::exchange(interrupted_, true)) asio::co_spawn(executor, arrives_(), asio::detached);
    // The other request gets as far as it can without this one.
    for (int turns = 0; turns < 100; ++turns) co_await yielded();
    co_return co_await text_.read(into);
  }

 private:
  const std::function<Task<void>()> arrives_;  // holds what the coroutine refers to
  bool interrupted_ = false;
  TextBytes text_{"first"};
};

TEST_F(FilesApi, OfTwoOverlappingChangesOneKeepsToItsConditions) {
  const auto overlap = [&](HttpCall first, HttpCall second) {
    std::optional<int> late;
    InterruptedUpload bytes(
        [&]() -> Task<void> { late = (co_await gateway_.client.call(second)).status; });
    first.upload = &bytes;
    const int early = loop_.run(gateway_.client.call(std::move(first))).status;
    while (!late) loop_.run(yielded());
    return std::pair(early, *late);
  };
  const std::string url = "http://here/v1/sandboxes/" + id_ + "/files?path=";
  const auto change = [&](const char* method, const char* path, HttpFields headers) {
    return HttpCall{.method = method, .url = url + path, .headers = std::move(headers)};
  };
  const HttpFields create{{"If-None-Match", "*"}};
  EXPECT_EQ(overlap(change("PUT", "n", create), change("PUT", "./n", create)), std::pair(200, 412));
  const HttpFields same{{"If-Match", field(send("GET", "/files?path=n"), "ETag")}};
  EXPECT_EQ(overlap(change("PUT", "n", same), change("DELETE", "n", same)), std::pair(200, 412));
  EXPECT_EQ(send("GET", "/files?path=n").body, "first");
}

TEST_F(FilesApi, RemovalsKeepToTheirConditions) {
  const auto remove = [&](const char* path, const char* name, const std::string& value) {
    return send("DELETE", std::string("/files?path=") + path, "", {{name, value}});
  };
  const std::string first = field(send("PUT", "/files?path=n", "one"), "ETag");
  const std::string second = field(send("PUT", "/files?path=n", "two!"), "ETag");
  const auto refused = remove("n", "If-Match", first);
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(Json::parse(refused.body)["code"], "conflict");
  EXPECT_EQ(remove("n", "If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT").status, 412);
  EXPECT_EQ(remove("n", "If-None-Match", "*").status, 412);
  EXPECT_EQ(send("GET", "/files?path=n").body, "two!");
  EXPECT_EQ(remove("n", "If-Match", second).status, 204);
  EXPECT_EQ(remove("n", "If-Match", second).status, 404) << "nothing is there to compare";
}

TEST_F(FilesApi, DirectoriesHaveNoTagButExist) {
  const auto remove = [&](const char* name, const std::string& value) {
    return send("DELETE", "/files?path=d", "", {{name, value}}).status;
  };
  send("POST", "/files/mkdir", R"({"path":"d"})");
  EXPECT_EQ(remove("If-Match", "\"x\""), 412);
  EXPECT_EQ(remove("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), 412);
  EXPECT_EQ(remove("If-Match", "*"), 204);
}

TEST_F(FilesApi, RangesAreServed) {
  send("PUT", "/files?path=n", "0123456789");
  const auto middle = send("GET", "/files?path=n", "", {{"Range", "bytes=2-4"}});
  EXPECT_EQ(middle.status, 206);
  EXPECT_EQ(middle.body, "234");
  EXPECT_EQ(field(middle, "Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"Range", "bytes=-3"}}).body, "789");
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"Range", "bytes=8-"}}).body, "89");
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"Range", "bytes=5-999"}}).body, "56789");
  const auto beyond = send("GET", "/files?path=n", "", {{"Range", "bytes=10-"}});
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(field(beyond, "Content-Range"), "bytes */10");
  EXPECT_EQ(field(beyond, "ETag"), field(middle, "ETag"));
  EXPECT_EQ(Json::parse(field(beyond, "X-Sandgate-Entry"))["size"], 10);
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"Range", "lines=1-2"}}).body, "0123456789");
}

TEST_F(FilesApi, ASlashAtTheEndNamesNoFile) {
  send("PUT", "/files?path=n", "0123456789");
  const auto read = send("GET", "/files?path=n/");
  EXPECT_EQ(read.status, 400);
  EXPECT_EQ(Json::parse(read.body)["fields"][0]["path"], "/path");
  EXPECT_EQ(send("HEAD", "/files?path=n/").status, 400);
  EXPECT_EQ(send("GET", "/files?path=none/").status, 404);
  const auto written = send("PUT", "/files?path=fresh/", "x");
  EXPECT_EQ(written.status, 400);
  EXPECT_EQ(Json::parse(written.body)["fields"][0]["path"], "/path");
  EXPECT_EQ(send("GET", "/files/stat?path=fresh").status, 404);
  EXPECT_EQ(send("GET", "/files?path=n").body, "0123456789");
}

// Files in /proc are told to be of no size.
TEST_F(FilesApi, OnlyWhatHasNoContentsIsEmpty) {
  send("PUT", "/files?path=n", "");
  const auto empty = send("GET", "/files?path=n");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.body, "");
  exec({{"shell", "ln -s /proc kernel"}});
  EXPECT_NE(send("GET", "/files?path=kernel/uptime").body, "");
}

TEST_F(FilesApi, TagsDecide) {
  send("PUT", "/files?path=n", "0123456789");
  const std::string tag = field(send("GET", "/files?path=n"), "ETag");
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"If-None-Match", tag}}).status, 304);
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"If-None-Match", "\"x\""}}).status, 200);
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"Range", "bytes=0-0"}, {"If-Range", tag}}).body,
            "0");
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"Range", "bytes=0-0"}, {"If-Range", "\"x\""}}).body,
            "0123456789");
}

TEST_F(FilesApi, AChangeThatKeepsSizeAndTimeHasAnotherTag) {
  send("PUT", "/files?path=n", "aaa");
  exec({{"shell", "touch -d @1700000000 n"}});
  const std::string tag = field(send("GET", "/files?path=n"), "ETag");
  EXPECT_TRUE(tag.starts_with('"')) << tag;
  exec({{"shell", "printf bbb > n; touch -d @1700000000 n"}});
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"If-None-Match", tag}}).status, 200);
  EXPECT_EQ(send("GET", "/files?path=n", "", {{"Range", "bytes=0-0"}, {"If-Range", tag}}).body,
            "bbb");
  EXPECT_EQ(send("PUT", "/files?path=n", "c", {{"If-Match", tag}}).status, 412);
}

TEST_F(FilesApi, ReadsKeepToTheirConditions) {
  send("PUT", "/files?path=n", "0123456789");
  const std::string tag = field(send("GET", "/files?path=n"), "ETag");
  for (const char* method : {"GET", "HEAD"}) {
    const auto ask = [&](const char* name, const std::string& value) {
      return send(method, "/files?path=n", "", {{name, value}}).status;
    };
    EXPECT_EQ(ask("If-Match", tag), 200);
    EXPECT_EQ(ask("If-Match", "*"), 200);
    EXPECT_EQ(ask("If-Match", "\"x\""), 412);
    EXPECT_EQ(ask("If-Match", "W/" + tag), 412);
    EXPECT_EQ(ask("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), 412);
    EXPECT_EQ(ask("If-Unmodified-Since", "Thu, 06 Nov 2194 08:49:37 GMT"), 200);
  }
}

TEST_F(FilesApi, DatesDecideWithoutTags) {
  send("PUT", "/files?path=n", "0123456789");
  exec({{"shell", "touch -d @1700000000 n; touch -d @4000000000 late"}});
  const std::string date = "Tue, 14 Nov 2023 22:13:20 GMT";
  for (const char* method : {"GET", "HEAD"}) {
    EXPECT_EQ(field(send(method, "/files?path=n"), "Last-Modified"), date);
    const auto known = send(method, "/files?path=n", "", {{"If-Modified-Since", date}});
    EXPECT_EQ(known.status, 304);
    EXPECT_EQ(known.body, "");
    EXPECT_EQ(
        send(method, "/files?path=n", "", {{"If-Modified-Since", date}, {"If-None-Match", "\"x\""}})
            .status,
        200);
  }
  const auto part = [&](const std::string& if_range) {
    return send("GET", "/files?path=n", "", {{"Range", "bytes=0-0"}, {"If-Range", if_range}}).body;
  };
  EXPECT_EQ(part(date), "0");
  EXPECT_EQ(part("Tue, 14 Nov 2023 22:13:21 GMT"), "0123456789");
  const std::string late = field(send("GET", "/files?path=late"), "Last-Modified");
  EXPECT_EQ(late.find("2096"), std::string::npos) << late;
}

TEST_F(FilesApi, AFormIsNoFile) {
  for (const char* type : {"multipart/form-data; boundary=x", "Multipart/Form-Data"}) {
    const auto form = send("PUT", "/files?path=form", "--x--", {{"Content-Type", type}});
    EXPECT_EQ(form.status, 415);
    EXPECT_EQ(Json::parse(form.body)["code"], "invalid");
    EXPECT_EQ(Json::parse(form.body)["fields"][0]["path"], "/Content-Type");
  }
  EXPECT_EQ(send("GET", "/files?path=form").status, 404);
  EXPECT_EQ(send("PUT", "/files?path=t", "x", {{"Content-Type", "multipart/mixed"}}).status, 200);
}

TEST_F(FilesApi, APartIsNotTakenForTheWhole) {
  send("PUT", "/files?path=n", "0123456789");
  const auto part = send("PUT", "/files?path=n", "x", {{"Content-Range", "bytes 0-0/10"}});
  EXPECT_EQ(part.status, 400);
  EXPECT_EQ(Json::parse(part.body)["fields"][0]["path"], "/Content-Range");
  EXPECT_EQ(send("GET", "/files?path=n").body, "0123456789");
}

// Bytes that are no UTF-8 all look the same.
TEST_F(FilesApi, ListsLoseNoneOfTheNamesThatLookAlike) {
  exec({{"shell",
         R"sh(for c in 303\\251 361 362 363 z; do : > "$(printf "\\$c")"; done; : > a)sh"}});
  const size_t all = Json::parse(send("GET", "/files/list").body)["items"].size();
  EXPECT_EQ(all, 6u);
  size_t seen = 0;
  std::string cursor;
  for (bool more = true; more && seen <= all;) {
    const Json page = Json::parse(send("GET", "/files/list?limit=1" + cursor).body);
    seen += page["items"].size();
    more = page["next_cursor"].is_string();
    if (more) cursor = "&cursor=" + page["next_cursor"].get<std::string>();
  }
  EXPECT_EQ(seen, all);
}

TEST_F(FilesApi, ListsComeInPages) {
  for (const char* name : {"c", "a", "b"}) send("PUT", std::string("/files?path=") + name, "1");
  const Json first = Json::parse(send("GET", "/files/list?limit=2").body);
  ASSERT_EQ(first["items"].size(), 2u);
  EXPECT_EQ(first["items"][0]["name"], "a");
  ASSERT_TRUE(first["next_cursor"].is_string());
  const std::string cursor = first["next_cursor"];
  const Json rest = Json::parse(send("GET", "/files/list?limit=2&cursor=" + cursor).body);
  ASSERT_EQ(rest["items"].size(), 1u);
  EXPECT_EQ(rest["items"][0]["name"], "c");
  EXPECT_EQ(rest["next_cursor"], nullptr);
  EXPECT_EQ(send("GET", "/files/list?path=elsewhere&limit=2&cursor=" + cursor).status, 400)
      << "a cursor is for the folder that it was given for";
}

// The path is in the target already, three times as long when it is percent-encoded.
TEST_F(FilesApi, ACursorDoesNotRepeatTheFolder) {
  std::string folder;
  for (int i = 0; i < 8; ++i) folder += std::string(200, 'x') + "/";
  for (const char* name : {"a", "b/c", "b/d", "e"})
    EXPECT_EQ(send("PUT", "/files?path=" + folder + name, "1").status, 200) << name;
  std::string names, cursor;
  for (bool more = true; more && names.size() < 10;) {
    const auto reply = send("GET", "/files/list?depth=2&limit=1&path=" + folder + cursor);
    ASSERT_EQ(reply.status, 200) << reply.body;
    const Json page = Json::parse(reply.body);
    for (const Json& item : page["items"]) names += item["name"].get<std::string>();
    more = page["next_cursor"].is_string();
    if (!more) break;
    cursor = "&cursor=" + page["next_cursor"].get<std::string>();
    EXPECT_LT(cursor.size(), 100u);
  }
  EXPECT_EQ(names, "abcde");
}

TEST_F(FilesApi, MistakesAreNamed) {
  EXPECT_EQ(send("GET", "/files").status, 400);
  EXPECT_EQ(Json::parse(send("GET", "/files").body)["fields"][0]["path"], "/path");
  EXPECT_EQ(send("PUT", "/files?path=x&mode=9", "").status, 400);
  EXPECT_EQ(send("GET", "/files?path=missing").status, 404);
  EXPECT_EQ(send("GET", "/files/list?depth=0").status, 400);
  EXPECT_EQ(send("POST", "/files/mkdir", "{}").status, 400);
  EXPECT_EQ(send("GET", "/files/archive?path=.").status, 422);
  EXPECT_EQ(send("GET", "/files/watch?path=.").status, 422);
}

TEST_F(FilesApi, FoldersAreMadeMovedAndRemoved) {
  EXPECT_EQ(send("POST", "/files/mkdir", R"({"path":"d"})").status, 201);
  EXPECT_EQ(send("POST", "/files/move", R"({"from":"d","to":"e"})").status, 200);
  EXPECT_EQ(Json::parse(send("GET", "/files/stat?path=e").body)["type"], "directory");
  EXPECT_EQ(send("DELETE", "/files?path=e&recursive=true").status, 204);
  EXPECT_EQ(send("DELETE", "/files?path=e").status, 404);
}

}  // namespace
}  // namespace sandgate::test
