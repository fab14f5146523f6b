#pragma once
#include <memory>

#include "providers/transport/http_client.hpp"

namespace sandgate {

class CurlLoop;

// HttpClient on libcurl. One thread with one multi handle drives all transfers, which may last for
// hours, over pooled connections and HTTP/2 where offered. Calls may come from any executor and
// complete on it. Each transfer buffers at most about 1 MiB in each direction.
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
