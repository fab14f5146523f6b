#pragma once
#include <memory>
#include <string>

#include "local/egress/egress_sandbox.hpp"
#include "local/egress/http_head.hpp"
#include "local/egress/redactor.hpp"
#include "local/egress/stream.hpp"

namespace sandgate::egress {

// A request's head, and the bytes received after it.
struct Received {
  HeadResult result;  // incomplete: the client has closed
  std::string rest;
};
Task<Received> read_head(Stream& from);

// Whether the request is for this target: its request line is in origin form (or OPTIONS *), and
// its Host field names the target, if that is a name.
bool is_for(const RequestHead& head, const Target& target, uint16_t default_port);

// Forwards one request to the connected upstream and its response back, masked (and for that
// without its content coding), then ends the connection, so that every request is judged on a
// connection of its own. Bytes after the body are dropped. A request whose body is malformed is
// refused; if its body is not sent completely, the upstream's connection is reset. A client that
// resets its connection, or ends its TLS, ends both. A WebSocket that the upstream accepts is
// relayed until it ends. The connection has a target. Both streams outlive the call.
Task<void> forward(std::shared_ptr<Connection> connection, Stream& client, Stream& upstream,
                   RequestHead head, std::string rest, Redactor redactor);

}  // namespace sandgate::egress
