#pragma once
#include <string>

#include "gateway/api/network.hpp"
#include "gateway/api/sandboxes.hpp"
#include "gateway/api/snapshots.hpp"
#include "gateway/compat/e2b/access_token.hpp"
#include "gateway/compat/e2b/create_request.hpp"
#include "gateway/ports/port_store.hpp"
#include "gateway/sandboxes/pausing.hpp"

namespace sandgate::compat::e2b {

// The control plane below /e2b. Each call is parsed, carried out by the v1 handlers and rendered in
// E2B's format.
class Control {
 public:
  struct Parts {
    Database& database;
    Lifecycle& lifecycle;
    api::SandboxHandlers& sandboxes;
    Pausing& pausing;
    api::SnapshotHandlers& snapshots;
    api::NetworkHandlers& network;
    ports::PortStore& ports;
    const Clock& clock;
    const AccessTokens& tokens;
    std::string domain;  // hosts are <port>-<id>.<domain>; empty: none
  };
  explicit Control(Parts parts) : parts_(std::move(parts)), snapshots_(parts_.lifecycle) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> set_timeout(http::Request& request);
  Task<http::Response> refresh(http::Request& request);
  Task<http::Response> pause(http::Request& request);
  Task<http::Response> resume(http::Request& request);
  Task<http::Response> connect(http::Request& request);
  Task<http::Response> fork(http::Request& request);
  Task<http::Response> update_network(http::Request& request);
  Task<http::Response> metrics(http::Request& request);

 private:
  Task<SandboxRecord> shown(const http::Request& request);
  Task<std::optional<bool>> internet_asked_for(SandboxId sandbox);
  Task<void> open_every_port(const http::Request& request);
  Task<void> check_awake(const http::Request& request);
  Task<void> wake(const http::Request& request, int64_t seconds);
  Task<void> extend(const http::Request& request, int64_t seconds, bool only_longer);
  // An item of fork's answer. `copy` is one of the v1 API's.
  Task<Json> take_over(http::Request request, Json copy, int64_t seconds, bool public_ports);
  Task<Json> set_up(http::Request request, int64_t seconds, bool public_ports);
  Task<http::Response> answer(const http::Request& request, int status);
  Task<std::string> profile_for(TenantId tenant, SnapshotId id);

  const Parts parts_;
  Snapshots snapshots_;
};

}  // namespace sandgate::compat::e2b
