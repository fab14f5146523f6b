#pragma once
#include <string>

#include "gateway/http/responder.hpp"

namespace sandgate::compat::e2b {

// The entry of a listener. Dispatches requests to the API or the data plane, and renders the
// failures of /e2b and the data plane in E2B's format. Requests for is_control_host() are those
// below /e2b. There, an account's token (sk_e2b_…) beside an X-API-Key counts for nothing.
class PlaneRouter final : public http::Responder {
 public:
  struct Settings {
    std::string domain;  // hosts are "<port>-<id>.<domain>"; empty: none
    bool data_listener = false;  // requests without such a host go to the data plane
  };
  PlaneRouter(http::Responder& api, http::Responder& data, Settings settings)
      : api_(api), data_(data), settings_(std::move(settings)) {}

  // True for the data plane: a target that does not decode is refused in E2B's format as well.
  bool is_passthrough(const http::Request& request) const override;
  Task<http::Response> respond(http::Request& request, http::IncomingBody& body) override;
  http::Response refuse_method(const http::Request& request) override;

 private:
  bool is_for_data(const http::Request& request) const;
  bool is_for_control(const http::Request& request) const;
  std::optional<http::Response> refusal_of(http::Request& request);
  Task<http::Response> serve(http::Request& request, http::IncomingBody& body);

  http::Responder& api_;
  http::Responder& data_;
  const Settings settings_;
};

}  // namespace sandgate::compat::e2b
