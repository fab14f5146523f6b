#pragma once
#include "gateway/core/json_reader.hpp"
#include "providers/http_client.hpp"

namespace sandgate::test {

// Answers every call with one document, and keeps the last call.
class OneAnswer : public HttpClient {
 public:
  Task<HttpReply> call(HttpCall call) override {
    last = std::move(call);
    co_return HttpReply{200, {}, document.dump(), {}};
  }
  Task<std::unique_ptr<HttpStream>> stream(HttpCall) override {
    throw Error(ErrorCode::unsupported, "nothing is streamed here");
    co_return nullptr;
  }

  Json document;
  HttpCall last;
};

}  // namespace sandgate::test
