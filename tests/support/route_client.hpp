#pragma once
#include "gateway/http/routes.hpp"
#include "providers/http_client.hpp"

namespace sandgate::test {

// An HttpClient whose upstream is a route table in this process: no socket, no server. Streamed
// bodies are produced as they are pulled. A suspended error switch answers every call with it.
class RouteClient : public HttpClient {
 public:
  explicit RouteClient(const http::Routes& routes) : routes_(routes) {}

  Task<HttpReply> call(HttpCall call) override;
  Task<std::unique_ptr<HttpStream>> stream(HttpCall call) override;

  http::Caller caller;
  std::optional<HttpReply> fixed;  // answered instead, when set
  HttpCall last;  // without its upload

 private:
  const http::Routes& routes_;
};

}  // namespace sandgate::test
