#pragma once
#include <memory>

#include "providers/http_client.hpp"

namespace sandgate {

class CurlLoop;

// HttpClient on libcurl: one thread with one multi handle carries any number of calls and
// hour-long streams, with pooled connections and HTTP/2 where it is offered. Calls may come from
// any executor and complete on it. Buffers are bounded (1 MiB each way per transfer).
class CurlClient : public HttpClient {
 public:
  CurlClient();
  ~CurlClient() override;  // running transfers end with Error(unavailable)
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  Task<HttpReply> call(HttpCall call) override;
  Task<std::unique_ptr<HttpStream>> stream(HttpCall call) override;

 private:
  std::shared_ptr<CurlLoop> loop_;
};

}  // namespace sandgate
