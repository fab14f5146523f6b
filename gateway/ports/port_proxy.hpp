#pragma once
#include "gateway/core/time.hpp"
#include "gateway/http/admission.hpp"
#include "gateway/http/responder.hpp"
#include "gateway/ports/port_store.hpp"
#include "gateway/ports/port_token.hpp"
#include "gateway/ports/relay.hpp"
#include "registry/tenant_directory.hpp"

namespace sandgate::ports {

// Responder in front of the API: relays requests for open ports to programs in sandboxes and passes
// all others to `inner`. Reaches only opened ports (by number or all at once) of running sandboxes,
// and never an address of the client's choice.
class PortProxy final : public http::Responder {
 public:
  struct Settings {
    std::string domain;  // hosts "<port>-<id>.<domain>"; empty: only paths
    RelaySettings relay;
  };
  // What it works with; all must outlive it.
  struct Parts {
    SandboxAccess& access;
    PortStore& ports;
    AppPool& pool;
    const Clock& clock;
    TenantDirectory& tenants;
    http::Admission& admission;
  };
  PortProxy(http::Responder& inner, Parts parts, Settings settings)
      : inner_(inner), parts_(parts), settings_(std::move(settings)) {}

  bool is_passthrough(const http::Request& request) const override;
  Task<http::Response> respond(http::Request& request, http::IncomingBody& body) override;
  http::Response refuse_method(const http::Request& request) override;

 private:
  Task<http::Response> serve(http::Request& request, http::IncomingBody& body);
  Task<http::Response> admit(http::Request& request, http::IncomingBody& body);
  // The answer to an admitted request, of which it keeps references.
  http::Response relayed(http::Request& request, http::IncomingBody& body,
                         const PortAddress& address, const OpenPort& port, OpenSandbox box,
                         const PresentedTokens& presented);
  // The open port that the cache knows for an address; null: it does not, or there is none.
  PortStore::Shared known(const PortAddress& address);
  // Throws Error(not_found).
  Task<PortStore::Shared> find(const PortAddress& address);
  void check_time(const OpenPort& port) const;  // throws Error(not_found) once it is over
  // Whether the port is still open under this salt; opening it again ends earlier tokens.
  Task<bool> is_open(PortAddress address, std::string salt);

  http::Responder& inner_;
  const Parts parts_;
  const Settings settings_;
};

}  // namespace sandgate::ports
