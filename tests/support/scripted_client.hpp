#pragma once
#include <deque>
#include <mutex>

#include "providers/transport/http_client.hpp"

namespace sandgate::test {

// An HttpClient that returns scripted replies and records the calls. A reply with status 0 means
// that the server cannot be reached. Streams deliver a few bytes at a time. Thread-safe.
class ScriptedClient : public HttpClient {
 public:
  // Sets the replies to later calls, each used once and in order. A call beyond them gets the reply
  // of always(), or Error(internal) without one.
  void script(std::deque<HttpReply> replies);
  // Sets the reply to every call that the script does not cover.
  void always(HttpReply reply);

  std::vector<HttpCall> calls() const;  // without upload bodies
  HttpCall last() const;
  std::vector<std::string> asked() const;  // "METHOD url" of each call
  void forget_calls();

  Task<HttpReply> call(HttpCall call) override;
  Task<std::unique_ptr<HttpStream>> stream(HttpCall call) override;

 private:
  HttpReply answer_to(HttpCall call);

  mutable std::mutex mutex_;
  std::deque<HttpReply> script_;
  std::optional<HttpReply> always_;
  std::vector<HttpCall> calls_;
};

}  // namespace sandgate::test
