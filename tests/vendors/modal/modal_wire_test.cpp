#include "providers/modal/modal_wire.hpp"

#include <gtest/gtest.h>

#include "gateway/core/crypto.hpp"
#include "providers/transport/protobuf_wire.hpp"

namespace sandgate::modal {
namespace {

using protobuf::Message;
using protobuf::Writer;

TEST(ModalWire, ACreateCarriesOurIdTheSizeAndTheNetwork) {
  CreateSpec spec{.sandbox_id = "sb1",
                  .resources = {.milli_vcpu = 1250, .memory_mib = 3072},
                  .ttl = std::chrono::hours(1),
                  .env = {{"A", "b c"}},
                  .metadata = {{"run", "7"}, {"sandgate_id", "forged"}}};
  const std::string bytes = to_create(spec, {.region = "eu"}, "ap-1", "im-1");
  const Message request(bytes);
  EXPECT_EQ(request.text(1), "ap-1");
  const auto tags = request.messages(4);
  ASSERT_EQ(tags.size(), 2u);
  EXPECT_EQ(tags[0].text(1) + "=" + tags[0].text(2), "sandgate_id=sb1");
  EXPECT_EQ(tags[1].text(1) + "=" + tags[1].text(2), "run=7");
  const auto variables = request.message(6)->message(2)->messages(1);
  ASSERT_EQ(variables.size(), 1u);
  EXPECT_EQ(variables[0].text(1) + "=" + variables[0].text(2), "A=b c");
  const Message definition = *request.message(2);
  EXPECT_EQ(definition.text(3), "im-1");
  EXPECT_EQ(definition.text(30), "sb1");
  EXPECT_EQ(definition.text(28), "gvisor");
  EXPECT_EQ(definition.message(17)->text(4), "eu");
  EXPECT_EQ(definition.message(22)->number(1), 2u);  // blocked
  // Two of our processors are one of the vendor's cores.
  const Message size = *definition.message(5);
  EXPECT_EQ(size.number(3), 625u);
  EXPECT_EQ(size.number(7), 625u);
  EXPECT_EQ(size.number(2), 3072u);
  EXPECT_EQ(size.number(5), 3072u);
}

TEST(ModalWire, TheLifeIsTheLongerOneUpToADay) {
  const auto seconds = [](std::chrono::seconds ttl, int64_t keep_alive) {
    const std::string bytes =
        to_create({.ttl = ttl}, {.keep_alive_seconds = keep_alive}, "ap-1", "im-1");
    return Message(bytes).message(2)->number(7);
  };
  EXPECT_EQ(seconds(std::chrono::hours(1), 60), 3600u);
  EXPECT_EQ(seconds(std::chrono::hours(1), 7200), 7200u);
  EXPECT_EQ(seconds(std::chrono::hours(100), 60), 86'400u);
}

TEST(ModalWire, WhatItCannotKeepIsRefused) {
  const CreateSpec rules{.network = {.allow = {"example.com:443"}}};
  EXPECT_THROW(to_create(rules, {}, "ap-1", "im-1"), Error);
  const CreateSpec open{.network = {.fallback = NetworkDefault::allow}};
  const std::string bytes = to_create(open, {}, "ap-1", "im-1");
  EXPECT_EQ(Message(bytes).message(2)->message(22)->number(1), 1u);
}

TEST(ModalWire, AnImageIsOneLineOfABuildFile) {
  const std::string bytes = to_image("ap-1", "debian:12-slim", "2025.06");
  const Message request(bytes);
  EXPECT_EQ(request.message(2)->texts(6), (std::vector<std::string>{"FROM debian:12-slim"}));
  EXPECT_EQ(request.text(9), "2025.06");
  for (const char* wrong : {"", "a\nRUN x", "a b", "a\tb", "ü"})
    EXPECT_THROW(to_image("ap-1", wrong, "2025.06"), Error) << wrong;
}

TEST(ModalWire, AProgramRunsUnderOurShellWithItsVariablesBeside) {
  const Command command{.argv = {"echo", "it's"}, .env = {{"A", "1"}}, .process_id = "pr1"};
  const std::string bytes = to_start("ta-1", "ex-1", command);
  const Message request(bytes);
  const auto words = request.texts(3);
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[0], "/bin/sh");
  EXPECT_NE(words[2].find(R"('it'\''s')"), std::string::npos);
  EXPECT_EQ(words[2].find("export"), std::string::npos);
  EXPECT_EQ(request.message(13)->message(2)->message(1)->text(2), "1");
  EXPECT_FALSE(request.message(9));
  const std::string with = to_start("ta-1", "ex-1", {.argv = {"sh"}, .pty = PtySize{100, 30}});
  const Message terminal = *Message(with).message(9);
  EXPECT_EQ(terminal.number(2), 30u);
  EXPECT_EQ(terminal.number(3), 100u);
}

TEST(ModalWire, AnExitIsACodeOrASignal) {
  EXPECT_EQ(from_exit(std::string("\x08\0", 2)), 0);
  EXPECT_EQ(from_exit(Writer().number(1, 7).bytes()), 7);
  EXPECT_EQ(from_exit(Writer().number(2, 9).bytes()), 137);
  EXPECT_THROW(from_exit(""), Error);
}

TEST(ModalWire, SandboxesEndWithAnyResult) {
  EXPECT_FALSE(from_wait(""));
  EXPECT_FALSE(from_wait(Writer().message(1, Writer()).bytes()));
  EXPECT_TRUE(from_wait(Writer().message(1, Writer().number(1, 3)).bytes()));
  EXPECT_EQ(from_task(Writer().text(1, "ta-1").bytes()), "ta-1");
  EXPECT_FALSE(from_task(Writer().message(2, Writer()).bytes()));
  EXPECT_THROW(from_task(""), Error);
}

TEST(ModalWire, BuildsSucceedOrFail) {
  EXPECT_FALSE(from_image(Writer().text(1, "im-1").bytes()).ended);
  const auto build = [](uint64_t status) {
    return from_join(Writer().message(1, Writer().number(1, status)).bytes()).ended;
  };
  EXPECT_FALSE(build(0));
  EXPECT_EQ(build(1), true);
  EXPECT_EQ(build(2), false);
  EXPECT_EQ(build(4), false);
}

TEST(ModalWire, ATokenTellsItsEnd) {
  const auto token = [](const std::string& claims) {
    std::string text = base64_encode(claims);
    text.erase(std::find(text.begin(), text.end(), '='), text.end());
    return "e30." + text + ".x";
  };
  EXPECT_EQ(expiry_of(token(R"({"exp":1700000000,"a":"??>"})")), 1'700'000'000);
  EXPECT_FALSE(expiry_of(token(R"({"exp":"soon"})")));
  EXPECT_FALSE(expiry_of(token("[]")));
  for (const char* wrong : {"", ".", "..", "a.b", "a.!!.c", "opaque"})
    EXPECT_FALSE(expiry_of(wrong)) << wrong;
}

TEST(ModalWire, AStatusMaySayWhenToComeAgain) {
  const auto after = [](const std::string& type, float seconds) {
    const Writer detail = Writer().text(1, type).text(2, Writer().real32(1, seconds).bytes());
    return read_status("modal", {8, "", Writer().number(1, 8).message(3, detail).bytes()})
        .retry_after;
  };
  const std::string policy = "type.googleapis.com/modal.client.RPCRetryPolicy";
  EXPECT_EQ(after(policy, 7.5F), std::chrono::milliseconds(7500));
  EXPECT_EQ(after(policy, -1), std::chrono::milliseconds(0));
  EXPECT_EQ(after(policy, 1e30F), std::chrono::hours(1));
  EXPECT_FALSE(after(policy, std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(after("type.googleapis.com/other", 7));
  EXPECT_EQ(read_status("modal", {8, "", "\xff"}).code, ErrorCode::rate_limited);
}

TEST(ModalWire, HostileAnswersAreErrors) {
  for (const std::string& wrong : {std::string("\xff"), Writer().number(1, 7).bytes()}) {
    EXPECT_THROW(from_id(wrong), Error);
    EXPECT_THROW(from_create(wrong), Error);
    EXPECT_THROW(from_list(wrong), Error);
    BackendSandbox sandbox;
    EXPECT_THROW(from_tags(wrong, sandbox), Error);
    EXPECT_THROW(from_wait(wrong), Error);
    EXPECT_THROW(from_read(wrong), Error);
    EXPECT_THROW(from_access(wrong, "ta-1"), Error);
  }
  EXPECT_THROW(from_id(""), Error);
  EXPECT_THROW(from_builder(""), Error);
  EXPECT_THROW(from_list(Writer().message(1, Writer()).bytes()), Error);
  EXPECT_EQ(from_list("").last, 0u);
  EXPECT_FALSE(from_create(Writer().text(1, "sb-1").bytes()).access);
}

}  // namespace
}  // namespace sandgate::modal
