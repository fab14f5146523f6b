#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/pausing.hpp"

namespace sandgate::api {

// /v1/sandboxes/{id}/pause and …/resume.
class PausingHandlers {
 public:
  explicit PausingHandlers(Pausing& pausing) : pausing_(pausing) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> pause(http::Request& request);
  Task<http::Response> resume(http::Request& request);

 private:
  Pausing& pausing_;
};

// Reads the member `keep` of a body; memory if absent.
Keeps read_keeps(ObjectReader& reader);

}  // namespace sandgate::api
