#pragma once
#include <map>
#include <memory>
#include <string>

#include "local/egress/box.hpp"
#include "local/egress/control_channel.hpp"
#include "local/node/wire.hpp"

namespace sandgate::egress {

// Control server of the egress process. The node tells it which sandboxes exist and what they may
// reach; serve gives it their secrets. It starts without state and persists only byte counts.
class Server {
 public:
  // `control` is the node's socket, `listener` the unix socket that serve connects to. Only root
  // and `serve_uid` may use the latter.
  Server(Surroundings around, Fd control, Fd listener, uid_t serve_uid);

  // Handles the node's orders; stops the loop when the node is gone.
  Task<void> obey();
  // Accepts serve's connections, forever.
  Task<void> listen();

 private:
  bool obey_waiting();  // handles all queued orders; false when the node is gone
  void handle(ControlMessage message);
  void attach(const std::string& id, ControlMessage message);
  void ask_again(const std::string& id);
  Task<void> converse(wire::Stream stream);
  Json answer(const Json& request);
  Json take_secrets(const Json& params);
  Json lacking_trust() const;
  void take_trust(const Json& params);
  Box& box_of(const Json& params);

  Surroundings around_;
  asio::posix::stream_descriptor control_;
  asio::local::stream_protocol::acceptor acceptor_;
  const uid_t serve_uid_;
  std::map<std::string, std::shared_ptr<Box>> boxes_;
};

}  // namespace sandgate::egress
