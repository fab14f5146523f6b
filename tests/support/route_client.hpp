#pragma once
#include "gateway/http/routes.hpp"
#include "providers/transport/http_client.hpp"

namespace sandgate::test {

// An HttpClient that calls a route table in this process, without sockets. Streamed bodies are
// produced on demand.
class RouteClient : public HttpClient {
 public:
  explicit RouteClient(const http::Routes& routes) : routes_(routes) {}

  Task<HttpReply> call(HttpCall call) override;
  Task<std::unique_ptr<HttpStream>> stream(HttpCall call) override;

  http::Caller caller;  // sends the requests

 private:
  const http::Routes& routes_;
};

}  // namespace sandgate::test
