#pragma once
#include <memory>

#include "providers/transport/async_resolver.hpp"
#include "providers/transport/http_client.hpp"

namespace sandgate {

class CurlLoop;

// HttpClient on libcurl. One thread with one multi handle drives all transfers, which may last for
// hours, over pooled connections and HTTP/2 where offered. Calls may come from any executor and
// complete on it. Each transfer buffers at most about 1 MiB in each direction. Names of upstreams
// that are not the operator's are looked up by `names`, within the time to connect.
class CurlClient : public HttpClient {
 public:
  explicit CurlClient(AsyncResolver names = AsyncResolver::shared());
  ~CurlClient() override;  // running transfers end with Error(unavailable)
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  Task<HttpReply> call(HttpCall call) override;
  Task<std::unique_ptr<HttpStream>> stream(HttpCall call) override;

 private:
  // The second throws what was never_sent().
  Task<std::optional<std::string>> look_up(HttpCall& call);
  Task<std::optional<std::string>> addresses_for(HttpCall& call);

  AsyncResolver names_;
  std::shared_ptr<CurlLoop> loop_;
};

}  // namespace sandgate
