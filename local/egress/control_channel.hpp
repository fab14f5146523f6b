#pragma once
#include <optional>
#include <vector>

#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"

// The protocol between the node and its egress process, over a seqpacket socket pair. Each packet
// is a JSON object with up to kMaxPassed descriptors. The node sends {seq, verb, id, …}, or
// {seq, verb: "ping"}; the egress process answers {ack: seq}. When it lacked descriptors for a
// sandbox's sockets, it later sends {again: id} to have that sandbox attached again.
namespace sandgate::egress {

struct ControlMessage {
  Json body;
  std::vector<Fd> fds;
  bool lost = false;  // the descriptors were dropped, because this process has too many open
};

// Sends a packet; blocks while the peer's queue is full. Throws Error(unavailable).
void send_control(int socket, const Json& body, const std::vector<int>& fds = {});
// Receives the next packet; blocks. Empty when the peer is gone or the packet is malformed.
std::optional<ControlMessage> receive_control(int socket);

}  // namespace sandgate::egress
