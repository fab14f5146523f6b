#pragma once
#include <memory>

#include "gateway/compat/e2b/code_interpreter.hpp"
#include "gateway/compat/e2b/control.hpp"
#include "gateway/compat/e2b/filesystem.hpp"
#include "gateway/compat/e2b/plane_router.hpp"
#include "gateway/compat/e2b/processes.hpp"
#include "gateway/compat/e2b/sandbox_authenticator.hpp"
#include "gateway/compat/e2b/signed_urls.hpp"
#include "gateway/compat/e2b/templates.hpp"
#include "gateway/compat/e2b/transfers.hpp"
#include "gateway/compat/e2b/unsupported_routes.hpp"
#include "gateway/http/dispatch.hpp"

namespace sandgate::compat::e2b {

// Assembles the E2B API. The control plane consists of routes of the v1 API's table, the data plane
// has a table of its own, and a PlaneRouter dispatches to both.
class Surface {
 public:
  struct Parts {
    Database& database;
    Lifecycle& lifecycle;
    ProfileResolver& profiles;
    api::SandboxHandlers& sandboxes;
    Pausing& pausing;
    api::SnapshotHandlers& snapshots;
    api::NetworkHandlers& network;
    ports::PortStore& ports;
    SandboxAccess& access;
    SandboxCache& cache;
    TenantDirectory& tenants;
    http::Admission& admission;
    http::BodyMemoryQuota& body_memory;
    const Clock& clock;
    Secret token_key;
    std::string domain;  // of ports' hosts; empty: none
    size_t body_bytes = 1 << 20;  // default limit for JSON bodies
  };
  explicit Surface(Parts parts);

  void add_control_routes(http::Routes& routes) {
    control_.add_routes(routes);
    templates_.add_routes(routes);
    add_unsupported_routes(routes);
  }
  // Applies to bodies that start later; see Parts. Thread-safe.
  void set_body_bytes(size_t most) { data_.set_body_bytes(most); }
  // The responder of the data plane.
  http::Responder& data() { return signed_; }
  // Makes the entry of the API's own listener, or of one for the data plane only. `api` and `data`,
  // which lead to the API and to data(), must outlive it.
  std::unique_ptr<http::Responder> router(http::Responder& api, http::Responder& data,
                                          bool data_listener);

 private:
  Task<http::Response> health(http::Request& request);

  const Parts parts_;
  const AccessTokens tokens_;
  Control control_;
  Templates templates_;
  Processes processes_;
  Filesystem filesystem_;
  Transfers transfers_;
  CodeInterpreter code_;
  SandboxAuthenticator authenticator_;
  TokenIndex token_index_;
  http::Routes routes_;
  http::Dispatcher data_;
  SignedUrls signed_;  // passes requests to data_
};

}  // namespace sandgate::compat::e2b
