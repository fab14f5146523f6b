#pragma once
#include <optional>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "local/namespaces/fd.hpp"
#include "providers/sandbox.hpp"

// Between the node and its egress process: a seqpacket socket pair, each packet a JSON object and
// up to eight descriptors. The node sends {seq, verb, id, …}; the egress process answers {ack:
// seq}, and later {again: id} when it had no room for the doors of that sandbox.
namespace sandgate::egress {

struct ControlMessage {
  Json body;
  std::vector<Fd> fds;
  bool lost = false;  // there were descriptors, and no room for them
};

// Blocks while the other side does not read. Throws Error(unavailable).
void send_control(int socket, const Json& body, const std::vector<int>& fds = {});
// The next packet, waited for; empty when the other side is gone or talks nonsense.
std::optional<ControlMessage> receive_control(int socket);

Json network_json(const NetworkPolicy& network);
NetworkPolicy network_from(const Json& json);  // throws Json::exception

}  // namespace sandgate::egress
