#include "tests/support/scripted_client.hpp"

#include <algorithm>

namespace sandgate::test {
namespace {

constexpr size_t kPiece = 3;  // less than anything that a reader looks for

class ScriptedStream : public HttpStream {
 public:
  explicit ScriptedStream(HttpReply reply) : reply_(std::move(reply)) {}
  int status() const override { return reply_.status; }
  const HttpFields& headers() const override { return reply_.headers; }
  const HttpFields& trailers() const override { return reply_.trailers; }
  Task<size_t> read(std::span<char> into) override {
    const size_t count = reply_.body.copy(into.data(), std::min(into.size(), kPiece), at_);
    at_ += count;
    co_return count;
  }

 private:
  const HttpReply reply_;
  size_t at_ = 0;
};

}  // namespace

void ScriptedClient::script(std::deque<HttpReply> replies) {
  std::lock_guard lock(mutex_);
  script_ = std::move(replies);
}

void ScriptedClient::always(HttpReply reply) {
  std::lock_guard lock(mutex_);
  always_ = std::move(reply);
}

std::vector<HttpCall> ScriptedClient::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

HttpCall ScriptedClient::last() const {
  std::lock_guard lock(mutex_);
  return calls_.empty() ? HttpCall{} : calls_.back();
}

std::vector<std::string> ScriptedClient::asked() const {
  std::vector<std::string> asked;
  for (const HttpCall& call : calls()) asked.push_back(call.method + " " + call.url);
  return asked;
}

void ScriptedClient::forget_calls() {
  std::lock_guard lock(mutex_);
  calls_.clear();
}

HttpReply ScriptedClient::answer_to(HttpCall call) {
  call.upload = nullptr;
  std::lock_guard lock(mutex_);
  calls_.push_back(call);
  if (script_.empty() && !always_)
    throw Error(ErrorCode::internal, "nobody foresaw this question: " + call.url);
  HttpReply reply = script_.empty() ? *always_ : script_.front();
  if (!script_.empty()) script_.pop_front();
  if (reply.status == 0) throw Error(ErrorCode::unavailable, call.peer + " could not be reached");
  return reply;
}

Task<HttpReply> ScriptedClient::call(HttpCall call) {
  const size_t room = call.max_body;
  HttpReply reply = answer_to(std::move(call));
  if (reply.body.size() > room)
    throw Error(ErrorCode::unavailable, "the backend's answer is too large");
  co_return reply;
}

Task<std::unique_ptr<HttpStream>> ScriptedClient::stream(HttpCall call) {
  co_return std::make_unique<ScriptedStream>(answer_to(std::move(call)));
}

}  // namespace sandgate::test
