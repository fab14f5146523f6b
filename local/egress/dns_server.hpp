#pragma once
#include <memory>

#include "local/egress/box.hpp"

namespace sandgate::egress {

// Answers a sandbox's questions about names without asking anybody: names that a rule may allow
// get a synthetic address, all others do not exist. Ends when the socket is closed.
Task<void> serve_dns(std::shared_ptr<Box> box, std::shared_ptr<asio::ip::udp::socket> socket);
Task<void> serve_dns_stream(std::shared_ptr<Connection> connection);

// The answer to one message; empty: none is due.
std::string dns_reply(Box& box, std::string_view message);

}  // namespace sandgate::egress
