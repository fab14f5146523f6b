#pragma once
#include <deque>
#include <mutex>

#include "providers/http_client.hpp"

namespace sandgate::test {

// An HttpClient whose other side says what a test wrote down, and which keeps what was asked. An
// answer of status 0 is none: the other side cannot be reached. Streams give a few bytes at a time.
// Threads may share one.
class ScriptedClient : public HttpClient {
 public:
  // The answers from now on, each once, in their order. What is asked beyond them is an
  // Error(internal), unless there is an answer to everything.
  void script(std::deque<HttpReply> replies);
  // The answer to everything that the script does not cover.
  void always(HttpReply reply);

  std::vector<HttpCall> calls() const;  // without their uploads
  HttpCall last() const;
  std::vector<std::string> asked() const;  // "METHOD url" of each
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
