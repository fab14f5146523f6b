#pragma once
#include <map>
#include <memory>
#include <string>

#include "local/egress/box.hpp"
#include "local/egress/control_channel.hpp"
#include "local/node/wire.hpp"

namespace sandgate::egress {

// What the egress process is told: by the node, which sandboxes there are and what they may reach;
// by serve, what their secrets are. Knows nothing when it starts and keeps nothing but the counts
// of bytes.
class Server {
 public:
  // `control` is the node's socket, `listener` the unix socket that serve connects to.
  Server(Surroundings around, Fd control, Fd listener, uid_t serve_uid);

  // Serves until the node is gone.
  Task<void> obey();
  Task<void> listen();

 private:
  bool obey_waiting();  // every order that is there already; false: the node is gone
  void handle(ControlMessage message);
  void attach(const std::string& id, ControlMessage message);
  void ask_again(const std::string& id);
  Task<void> converse(wire::Stream stream);
  Json answer(const Json& request);
  Json take_secrets(const Json& params);
  Box& box_of(const Json& params);

  Surroundings around_;
  asio::posix::stream_descriptor control_;
  asio::local::stream_protocol::acceptor acceptor_;
  const uid_t serve_uid_;
  std::map<std::string, std::shared_ptr<Box>> boxes_;
};

}  // namespace sandgate::egress
