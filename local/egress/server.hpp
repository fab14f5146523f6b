#pragma once
#include <map>
#include <memory>
#include <string>

#include "local/egress/control_channel.hpp"
#include "local/egress/egress_sandbox.hpp"
#include "local/node/server/wire.hpp"

namespace sandgate::egress {

// Control server of the egress process. The node tells it which sandboxes exist and what they may
// reach; serve gives it their secrets. It starts without state and persists only byte counts.
class Server {
 public:
  // `control` is the node's socket, `listener` the unix socket that serve connects to. Only root
  // and `serve_uid` may use the latter.
  Server(Services services, Fd control, Fd listener, uid_t serve_uid);

  // Handles the node's commands; stops the loop when the node is gone.
  Task<void> process_commands();
  // Accepts serve's connections, forever.
  Task<void> listen();

 private:
  bool process_queued();  // handles all queued commands; false when the node is gone
  void handle(ControlMessage message);
  void attach(const std::string& id, ControlMessage message);
  void request_reattach(const std::string& id);
  Task<void> serve_connection(wire::Stream stream);
  Json answer(const Json& request);
  Json set_secrets(const Json& params);
  Json lacking_trust() const;
  void set_trusted(const Json& params);
  EgressSandbox& sandbox_of(const Json& params);

  Services services_;
  asio::posix::stream_descriptor control_;
  asio::local::stream_protocol::acceptor acceptor_;
  const uid_t serve_uid_;
  std::map<std::string, std::shared_ptr<EgressSandbox>> sandboxes_;
};

}  // namespace sandgate::egress
