#pragma once
#include "gateway/http/routes.hpp"
#include "providers/http_client.hpp"

namespace sandgate::test {

// An HttpClient whose upstream is a route table in this process: no socket, no server. Streamed
// bodies are produced as they are pulled.
class RouteClient : public HttpClient {
 public:
  explicit RouteClient(const http::Routes& routes) : routes_(routes) {}

  Task<HttpReply> call(HttpCall call) override;
  Task<std::unique_ptr<HttpStream>> stream(HttpCall call) override;

  http::Caller caller;  // who asks

 private:
  const http::Routes& routes_;
};

}  // namespace sandgate::test
