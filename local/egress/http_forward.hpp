#pragma once
#include <memory>
#include <string>

#include "local/egress/box.hpp"
#include "local/egress/http_head.hpp"
#include "local/egress/mask.hpp"
#include "local/egress/stream.hpp"

namespace sandgate::egress {

// A request's head, and what came behind it.
struct Received {
  HeadResult result;  // incomplete: the other end went away
  std::string rest;
};
Task<Received> read_head(Stream& from);

// Answers instead of the upstream: a JSON document with one word for the program inside.
Task<void> refuse(Stream& to, int status, std::string target, std::string_view reason);

// Whether the request is for exactly this target: its Host field says so, and its request line
// names no other.
bool is_for(const RequestHead& head, const Target& target, uint16_t default_port);

// Sends one request to the connected upstream and its answer back, then ends the connection: the
// next request is judged on a connection of its own. Bytes behind the body are dropped; a
// WebSocket that the upstream accepts is carried on. Both streams outlive the call.
Task<void> forward(std::shared_ptr<Connection> connection, Stream& client, Stream& upstream,
                   RequestHead head, std::string rest, Mask mask);

}  // namespace sandgate::egress
