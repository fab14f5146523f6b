#pragma once
#include <memory>

#include "gateway/app/api.hpp"
#include "gateway/app/start_gate.hpp"
#include "gateway/http/dispatch.hpp"
#include "gateway/http/http_metrics.hpp"
#include "gateway/http/server.hpp"
#include "gateway/ports/port_gate.hpp"

namespace sandgate {

// The addresses that are listened on, and what a request passes between one and the API: the door
// to data planes, the gate of the start, the gate of sandboxes' ports, the dispatcher.
class Listeners {
 public:
  // All outlive it.
  Listeners(Foundation& foundation, Registry& registry, Sandboxes& sandboxes, Callers& callers,
            Api& api);

  // Listens; what needs the database is answered by Error(unavailable) until open(). Throws Error
  // when the address cannot be had or the certificates are wrong.
  void listen();
  // Listens on the address of data planes alone, if there is one, likewise.
  void listen_for_data_planes();
  // Lets everything in, and writes where it is served.
  void open();
  // Reads the certificates again; where that fails, which is logged, they stay as they were.
  void reload();
  // Heeds the limits as they are in the settings now, for connections and requests to come.
  void take_limits();
  // Blocks until what is being answered is over, or its grace is.
  void stop();

  // As Dispatcher::within.
  Task<http::Response> within(http::Request& request) { return dispatcher_.within(request); }
  void render(MetricText& out) const;

 private:
  http::ServerOptions options() const;

  Foundation& foundation_;
  compat::e2b::Surface& e2b_;
  http::HttpMetrics metrics_;
  http::Dispatcher dispatcher_;
  ports::PortGate port_gate_;
  StartGate start_gate_, e2b_gate_;
  std::unique_ptr<http::Responder> door_, e2b_door_;  // before the gates, by listener
  std::unique_ptr<http::Server> server_, e2b_server_;  // null until they listen
};

}  // namespace sandgate
