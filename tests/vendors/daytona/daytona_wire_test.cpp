#include "providers/daytona/daytona_wire.hpp"

#include <gtest/gtest.h>

namespace sandgate::daytona {
namespace {

TEST(DaytonaWire, ACreateCarriesOurIdAsNameAndLabel) {
  CreateSpec spec{.sandbox_id = "sb1", .image = "small", .ttl = std::chrono::seconds(61)};
  Json body = to_create(spec, {});
  EXPECT_EQ(body["name"], "sb1");
  EXPECT_EQ(body["labels"]["sandgate_id"], "sb1");
  EXPECT_EQ(body["snapshot"], "small");
  EXPECT_EQ(body["ttlMinutes"], 2);
  EXPECT_EQ(body["autoStopInterval"], 0);
  EXPECT_EQ(body["networkBlockAll"], true);
  EXPECT_FALSE(body.contains("cpu"));
  // A size is only ours to choose where the image is built.
  spec.image = "image:debian:12";
  spec.resources = {.milli_vcpu = 1500, .memory_mib = 1500, .disk_gib = 3};
  body = to_create(spec, {.target = "eu"});
  EXPECT_EQ(body["buildInfo"]["dockerfileContent"], "FROM debian:12\n");
  EXPECT_EQ(body["cpu"], 2);
  EXPECT_EQ(body["memory"], 2);
  EXPECT_EQ(body["disk"], 3);
  // What is priced is what the create asks for.
  EXPECT_EQ(granted(spec.resources),
            (Resources{.milli_vcpu = 2000, .memory_mib = 2048, .disk_gib = 3}));
  EXPECT_EQ(body["target"], "eu");
  spec.network.allow = {"example.com:443"};
  EXPECT_THROW(to_create(spec, {}), Error);
}

TEST(DaytonaWire, StatesBecomeOurs) {
  const auto box = [](const char* state, const char* kind = "container") {
    return to_box({{"id", "1"}, {"state", state}, {"sandboxClass", kind}});
  };
  EXPECT_TRUE(box("started").running);
  EXPECT_FALSE(box("creating").running);
  EXPECT_TRUE(box("build_failed").failed);
  EXPECT_EQ(box("stopped").sandbox.state, BackendState::paused);
  EXPECT_EQ(box("destroying").sandbox.state, BackendState::gone);
  EXPECT_EQ(box("newer_word").sandbox.state, BackendState::running);
  EXPECT_EQ(box("started").sandbox.isolation, Isolation::container);
  EXPECT_EQ(box("started", "linux-vm").sandbox.isolation, Isolation::microvm);
  EXPECT_THROW(to_box(Json::array()), Error);
}

TEST(DaytonaWire, A403IsAboutTheKeyALimitOrAFile) {
  const auto read = [](const char* body) { return read_error("daytona", {403, {}, body}); };
  for (const char* message :
       {"Forbidden resource", "Organization is suspended: Depleted credits", "Invalid API key"})
    EXPECT_TRUE(are_credentials_refused(read(Json{{"message", message}}.dump().c_str())))
        << message;
  for (const char* body : {"", "<html>", "[]", R"({"message":7})"})
    EXPECT_TRUE(are_credentials_refused(read(body))) << body;
  for (const char* message :
       {"Total CPU limit exceeded. Maximum allowed: 10.\nTo increase concurrency limits",
        "Disk request 20GB exceeds maximum allowed per sandbox (10GB)."}) {
    const Error error = read(Json{{"message", message}}.dump().c_str());
    EXPECT_EQ(error.code, ErrorCode::no_capacity) << message;
    EXPECT_EQ(error.provider, "daytona");
  }
  EXPECT_EQ(read(R"({"code":"FILE_ACCESS_DENIED","message":"no"})").code, ErrorCode::invalid);
  EXPECT_EQ(read(R"({"message":"open /root/x: permission denied"})").code, ErrorCode::invalid);
  EXPECT_TRUE(are_credentials_refused(read_error("daytona", {401, {}, R"({"message":"x"})"})));
}

// stdout and stderr of a log that arrives in pieces of `size`.
std::pair<std::string, std::string> split(const std::string& log, size_t size) {
  LogSplitter splitter;
  std::pair<std::string, std::string> both;
  const auto take = [&] {
    while (auto piece = splitter.next())
      (piece->channel == Channel::stderr_ ? both.second : both.first) += piece->bytes;
  };
  for (size_t at = 0; at < log.size(); at += size) {
    splitter.add(std::string_view(log).substr(at, size));
    take();
  }
  splitter.end();
  take();
  return both;
}

TEST(LogSplitter, FindsMarkersWhereverTheBytesBreak) {
  const std::string log = "\1\1\1out\2\2\2e\1r\2\2r\1\1\1put\1\1";
  for (size_t size = 1; size <= log.size(); ++size) {
    const auto [out, err] = split(log, size);
    EXPECT_EQ(out, "output\1\1") << size;
    EXPECT_EQ(err, "e\1r\2\2r") << size;
  }
}

TEST(DaytonaWire, ASandboxHasTheSizeOfItsSnapshot) {
  Json document{{"id", "1"}, {"state", "started"}};
  EXPECT_FALSE(to_box(document).sandbox.resources);
  document.update({{"cpu", 2}, {"memory", 4}, {"disk", 10}});
  EXPECT_EQ(to_box(document).sandbox.resources,
            (Resources{.milli_vcpu = 2000, .memory_mib = 4096, .disk_gib = 10}));
}

}  // namespace
}  // namespace sandgate::daytona
