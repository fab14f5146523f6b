#pragma once
#include <string>

#include "local/egress/client_hello.hpp"
#include "local/egress/stream.hpp"

namespace sandgate::egress {

// These functions read what a client sends first and leave it in the socket. They have no timeout;
// the connection's idle timeout ends them.

// Returns `incomplete` when the client closes first.
Task<HelloResult> peek_client_hello(Socket& client);

// The protocol at the start of a connection to a port without a known protocol; `other` when the
// server sends first.
enum class SniffedProtocol { tls, http, other };
Task<SniffedProtocol> sniff_protocol(Socket& client, Socket& upstream);

}  // namespace sandgate::egress
