#pragma once
#include <atomic>

#include "gateway/http/responder.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate {

// Answers requests while the gateway starts. Open routes (health, readiness, metrics) work; all
// others get Error(unavailable) at once. After open() all requests are passed on. Thread-safe.
class StartGate : public http::Responder {
 public:
  // `early` answers open routes before open(); `all` answers everything after it.
  StartGate(const http::Routes& routes, http::Responder& early, http::Responder& all)
      : routes_(routes), early_(early), all_(all) {}

  void open() { open_ = true; }

  Task<http::Response> respond(http::Request& request, http::IncomingBody& body) override;
  bool is_passthrough(const http::Request& request) const override {
    return all_.is_passthrough(request);
  }
  http::Response refuse_method(const http::Request& request) override {
    return all_.refuse_method(request);
  }

 private:
  Task<http::Response> answer_early(http::Request& request, http::IncomingBody& body);

  const http::Routes& routes_;
  http::Responder& early_;
  http::Responder& all_;
  std::atomic<bool> open_{false};
};

}  // namespace sandgate
