// A server with one tiny JSON answer behind a bearer key, for measuring what HTTP itself costs.
// Usage: http_server THREADS; prints its port and serves until its input ends.
#include <iostream>
#include <unordered_map>

#include "gateway/core/crypto.hpp"
#include "gateway/http/dispatch.hpp"
#include "gateway/http/server.hpp"

namespace sandgate {
namespace {

// Compares by hash, as the real one does.
class OneKey : public http::Authenticator {
 public:
  Task<http::Caller> authenticate(const http::Request& request) override {
    const std::string_view value = request.headers.find("Authorization").value_or("");
    const auto known = callers_.find(sha256_hex(value.substr(std::min<size_t>(7, value.size()))));
    if (known == callers_.end()) throw Error(ErrorCode::unauthenticated, "send a key");
    co_return known->second;
  }

 private:
  std::unordered_map<std::string, http::Caller> callers_{
      {sha256_hex("sg_" + std::string(40, 'a')), {http::Role::developer, TenantId::make()}}};
};

Task<http::Response> answer(http::Request&) {
  http::Response response;
  response.body = R"({"id":"sbaaaaaaaaaaaaaaaaaaaaaaaa","state":"running"})";
  co_return response;
}

void serve(size_t threads) {
  http::Routes routes;
  routes.add({http::Method::get, "/v1/sandboxes/{id}", http::Permission::read, http::BodyMode::none,
              answer});
  OneKey authenticator;
  http::HttpMetrics metrics(routes);
  http::Dispatcher dispatcher(routes, {authenticator, nullptr, nullptr, &metrics});
  http::IoThreads io(threads);
  http::ServerOptions options;
  options.port = 0;
  http::Server server(io, dispatcher, options);
  io.start();
  server.start();
  std::cout << server.port() << std::endl;
  std::cin.get();
  server.stop();
  io.stop();
}

}  // namespace
}  // namespace sandgate

int main(int argc, char** argv) {
  sandgate::serve(argc > 1 ? std::stoul(argv[1]) : 2);
  return 0;
}
