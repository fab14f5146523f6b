#pragma once
#include <atomic>

#include "gateway/http/responder.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate {

// Who answers while the gateway is not ready for what needs its database: the routes that are open
// to everybody (health, readiness, metrics) work, everything else is Error(unavailable) at once.
// After open() all is passed on. Thread-safe.
class StartGate : public http::Responder {
 public:
  // `early` answers open routes until `all` answers everything.
  StartGate(const http::Routes& routes, http::Responder& early, http::Responder& all)
      : routes_(routes), early_(early), all_(all) {}

  void open() { open_ = true; }

  Task<http::Response> respond(http::Request& request, http::IncomingBody& body) override;
  bool passes_on(const http::Request& request) const override { return all_.passes_on(request); }
  http::Response refuse_method(const http::Request& request) override {
    return all_.refuse_method(request);
  }

 private:
  const http::Routes& routes_;
  http::Responder& early_;
  http::Responder& all_;
  std::atomic<bool> open_{false};
};

}  // namespace sandgate
