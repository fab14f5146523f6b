#pragma once
#include <memory>

#include "gateway/app/api.hpp"
#include "gateway/app/start_gate.hpp"
#include "gateway/http/dispatch.hpp"
#include "gateway/http/http_metrics.hpp"
#include "gateway/http/server.hpp"
#include "gateway/ports/port_proxy.hpp"

namespace sandgate {

// The listening addresses and the chain of responders between them and the API: dispatch by data
// plane, the gate during start-up, the proxy of sandboxes' ports, the dispatcher.
class Listeners {
 public:
  // All references must outlive this object.
  Listeners(Foundation& foundation, Registry& registry, Sandboxes& sandboxes,
            Middleware& middleware, Api& api);

  // Starts to listen. Until open(), requests that need the database get Error(unavailable). Throws
  // Error if the address cannot be bound or the certificates are wrong.
  void listen();
  // Likewise listens on the separate address of the data planes, if one is configured.
  void listen_for_data_planes();
  // Admits all requests and writes the files that name the listening addresses.
  void open();
  // Reloads the certificates. On failure logs it and keeps the old ones.
  void reload();
  // Applies the current limits to later connections and requests.
  void apply_limits();
  // Blocks until answers in progress have ended or their grace period has.
  void stop();

  // See Dispatcher::subrequest.
  Task<http::Response> subrequest(http::Request& request) {
    return dispatcher_.subrequest(request);
  }
  void render(MetricText& out) const;

 private:
  http::ServerOptions options() const;

  Foundation& foundation_;
  compat::e2b::Surface& e2b_;
  http::HttpMetrics metrics_;
  http::Dispatcher dispatcher_;
  ports::PortProxy port_proxy_;
  StartGate start_gate_, e2b_gate_;
  std::unique_ptr<http::Responder> router_, e2b_router_;  // per listener, in front of the gates
  std::unique_ptr<http::Server> server_, e2b_server_;  // null until they listen
};

}  // namespace sandgate
