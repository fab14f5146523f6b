#pragma once
#include <memory>

#include "local/egress/egress_sandbox.hpp"

namespace sandgate::egress {

// Answer a sandbox's DNS queries, over UDP or TCP, without any upstream resolver: a name that some
// rule may allow gets a synthetic IPv4 address, all others do not exist. serve_dns() answers 500
// queries a second, the others wait in the socket; it ends within a second after the socket is
// closed. serve_dns_stream() ends with the connection or after 64 queries.
Task<void> serve_dns(std::shared_ptr<EgressSandbox> sandbox,
                     std::shared_ptr<asio::ip::udp::socket> socket);
Task<void> serve_dns_stream(std::shared_ptr<Connection> connection);

// Returns the response to one message; empty when the message must be dropped.
std::string dns_reply(EgressSandbox& sandbox, std::string_view message);

}  // namespace sandgate::egress
