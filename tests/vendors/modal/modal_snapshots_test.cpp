#include <gtest/gtest.h>

#include <algorithm>

#include "providers/modal/modal.hpp"
#include "providers/transport/grpc_call.hpp"
#include "providers/transport/protobuf_wire.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

// An image has no label: until it is published under its name, only the call that made it knows it.
namespace sandgate::test {
namespace {

using protobuf::Writer;

HttpReply modal_answer(const Writer& message) {
  return {200, {}, grpc::frame(message.bytes()), {{"grpc-status", "0"}}};
}

HttpReply modal_refusal(int code) { return {200, {}, "", {{"grpc-status", std::to_string(code)}}}; }

constexpr int kModalInvalid = 3, kModalNotFound = 5, kModalUnavailable = 14;

class ModalSnapshots : public testing::Test {
 protected:
  // A snapshot whose publication gets these answers.
  Outcome<BackendSnapshot> take(const std::vector<HttpReply>& published) {
    std::deque<HttpReply> answers{
        modal_answer(Writer().text(1, "token")), modal_refusal(kModalNotFound),
        modal_answer(Writer().text(1, "ta-1")),
        modal_answer(Writer().text(1, "token").text(2, "https://router.example")),
        modal_answer(Writer().text(1, "im-1"))};
    answers.insert(answers.end(), published.begin(), published.end());
    client_.script(std::move(answers));
    client_.always(modal_answer(Writer()));
    return loop_.run(attempt(provider_->snapshot("sb-1", "sn1", Keeps::disk, /*lasting=*/true)));
  }
  size_t asked(const std::string& method) const {
    const auto all = client_.asked();
    return static_cast<size_t>(std::ranges::count_if(
        all, [&](const std::string& call) { return call.ends_with("/" + method); }));
  }

  LiveLoop loop_;
  ScriptedClient client_;
  const std::shared_ptr<ModalProvider> provider_ =
      std::make_shared<ModalProvider>(client_, loop_.executor(), ModalSettings{});
};

TEST_F(ModalSnapshots, APublicationThatFailsIsRepeated) {
  const auto taken = take({modal_refusal(kModalUnavailable), modal_refusal(kModalUnavailable)});
  ASSERT_TRUE(std::holds_alternative<BackendSnapshot>(taken));
  EXPECT_EQ(std::get<BackendSnapshot>(taken).backend_id, "im-1");
  EXPECT_EQ(asked("ImagePublish"), 3u);
  EXPECT_EQ(asked("ImageDelete"), 0u);
}

TEST_F(ModalSnapshots, AnImageThatGetsNoNameIsRemoved) {
  const auto refused = take({modal_refusal(kModalInvalid)});
  ASSERT_TRUE(std::holds_alternative<Error>(refused));
  EXPECT_EQ(std::get<Error>(refused).code, ErrorCode::invalid);
  EXPECT_EQ(asked("ImageDelete"), 1u);
}

}  // namespace
}  // namespace sandgate::test
