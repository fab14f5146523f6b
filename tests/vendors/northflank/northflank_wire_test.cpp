#include "providers/northflank/northflank_wire.hpp"

#include <gtest/gtest.h>

namespace sandgate::northflank {
namespace {

TEST(NorthflankWire, TheCheapestPlanThatFitsIsTaken) {
  EXPECT_EQ(to_plan({250, 512, 1}), "nf-compute-50");
  EXPECT_EQ(to_plan({1000, 1024, 1}), "nf-compute-100-1");
  EXPECT_EQ(to_plan({500, 2048, 1}), "nf-compute-100-2");
  EXPECT_EQ(to_plan({3000, 9000, 1}), "nf-compute-400-16");
  EXPECT_EQ(to_plan({20'000, 40'960, 1}), "nf-compute-2000-40");
  EXPECT_THROW(to_plan({1000, 65'536, 1}), Error);
  EXPECT_EQ(granted({250, 512, 5}, {}), (Resources{500, 1024, 5})) << "and priced";
  EXPECT_EQ(granted({250, 512}, {.plan = "nf-compute-200"}), (Resources{2000, 4096}));
  EXPECT_EQ(granted({250, 512}, {.plan = "unknown"}), (Resources{250, 512}));
}

TEST(NorthflankWire, ACreateCarriesOurIdItsSizeAndItsEnd) {
  CreateSpec spec{.sandbox_id = "sb1", .image = "debian:12"};
  // There is no policy for what may leave a service.
  EXPECT_THROW(to_create(spec, {}), Error);
  spec.network.fallback = NetworkDefault::allow;
  const Json body = to_create(spec, {.keep_alive_seconds = 300});
  EXPECT_EQ(body["name"], "sb1");
  EXPECT_FALSE(body.contains("description"));
  EXPECT_EQ(body["billing"]["deploymentPlan"], "nf-compute-100-1");
  EXPECT_EQ(body["deployment"]["external"], (Json{{"imagePath", "debian:12"}}));
  EXPECT_EQ(body["deployment"]["storage"]["ephemeralStorage"]["storageSize"], 2048);
  EXPECT_EQ(body["createOptions"]["expiryTime"], 600);
  spec.ttl = std::chrono::hours(1000);
  EXPECT_EQ(to_create(spec, {})["createOptions"]["expiryTime"], 604'800);
  spec.image = "";
  const CreateRules rules{.image = "python:3.12", .registry = "mine", .plan = "own"};
  const Json other = to_create(spec, rules);
  EXPECT_EQ(other["billing"]["deploymentPlan"], "own");
  EXPECT_EQ(other["deployment"]["external"]["credentials"], "mine");
  EXPECT_EQ(other["deployment"]["external"]["imagePath"], "python:3.12");
}

TEST(NorthflankWire, OnlyServicesThatHaveOneOfOurIdsAreOurs) {
  const std::string ours = "sb0123456789abcdefghijklmn";
  const Json status{{"deployment", {{"status", "COMPLETED"}}}};
  const Box box = to_box({{"id", "x"}, {"name", ours}, {"status", status}}, Isolation::microvm);
  EXPECT_EQ(box.sandbox.sandbox_id, ours);
  EXPECT_TRUE(box.running);
  EXPECT_EQ(to_box({{"id", "x"}, {"name", "sb1"}}, Isolation::microvm).sandbox.sandbox_id, "");
  const Box paused = to_box({{"id", "x"}, {"servicePaused", true}}, Isolation::microvm);
  EXPECT_EQ(paused.sandbox.state, BackendState::paused);
  EXPECT_EQ(paused.sandbox.kept, Keeps::nothing);
}

TEST(NorthflankWire, TheFirstMessageCarriesTheTokenAndTheCommand) {
  const Command command{.argv = {"top"}, .user = "root", .pty = PtySize{100, 30}};
  const Json first = Json::parse(to_init(command, Secret("t")));
  EXPECT_EQ(first["data"]["auth"]["apiToken"], "t");
  const Json& context = first["data"]["context"];
  EXPECT_EQ(context["command"][0], "/bin/sh");
  EXPECT_EQ(context["encoding"], "base64");
  EXPECT_EQ(context["ttyColumns"], 100);
  EXPECT_EQ(context["user"], "root");
  EXPECT_EQ(to_input(std::string("\0\xFF", 2)), R"({"data":"AP8=","type":"payload"})");
}

TEST(NorthflankWire, FramesAreBytesAndAnEnd) {
  EXPECT_EQ(to_frame(R"({"type":"init","data":{"auth":"successful"}})").kind, Frame::accepted);
  EXPECT_EQ(to_frame(R"({"type":"init","data":{"auth":"failed"}})").kind, Frame::refused);
  EXPECT_EQ(to_frame(R"({"type":"error","data":{"message":"x"}})").kind, Frame::refused);
  const Frame err = to_frame(R"({"type":"stdErr","data":"AP8"})");
  EXPECT_EQ(err.channel, Channel::stderr_);
  EXPECT_EQ(err.bytes, std::string("\0\xFF", 2));
  EXPECT_EQ(to_frame(R"({"type":"completion","data":{"exitCode":3}})").status, 3);
}

TEST(NorthflankWire, HostileAnswersAreErrorsOrNothing) {
  EXPECT_THROW(to_box(Json::array(), Isolation::microvm), Error);
  EXPECT_THROW(to_box({{"id", 7}}, Isolation::microvm), Error);
  EXPECT_EQ(to_frame("{x").kind, Frame::other);
  EXPECT_EQ(to_frame("[]").kind, Frame::other);
  EXPECT_THROW(to_frame(R"({"type":"stdOut","data":"a b"})"), Error);
  EXPECT_THROW(to_frame(R"({"type":"stdOut"})"), Error);
  EXPECT_THROW(to_frame(R"({"type":"completion","data":{"exitCode":"0"}})"), Error);
  EXPECT_THROW(to_frame(R"({"type":"completion","data":{"exitCode":1e300}})"), Error);
  EXPECT_THROW(to_frame(R"({"type":"completion","data":[]})"), Error);
}

TEST(NorthflankWire, ALimitOfTheAccountSaysWhenItEnds) {
  const HttpReply limited{429, {{"X-RateLimit-Reset", "90"}}, ""};
  EXPECT_EQ(read_error("northflank", limited).retry_after, std::chrono::seconds(90));
  const HttpReply hostile{429, {{"X-RateLimit-Reset", "99999999999"}}, ""};
  EXPECT_EQ(read_error("northflank", hostile).retry_after, std::chrono::hours(1));
  EXPECT_FALSE(read_error("northflank", {429, {{"X-RateLimit-Reset", "soon"}}, ""}).retry_after);
  EXPECT_FALSE(read_error("northflank", {503, {{"X-RateLimit-Reset", "9"}}, ""}).retry_after);
}

}  // namespace
}  // namespace sandgate::northflank
