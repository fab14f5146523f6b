#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "local/egress/egress_sandbox.hpp"
#include "local/egress/stream.hpp"

namespace sandgate::egress {

// Sends a response in place of the upstream's: JSON with the reason, a single word, and the target.
// Then ends the sending direction.
Task<void> write_refusal(Stream& client, int status, std::string target, std::string_view reason);

// Ends the sending direction of a client's connection, then drops what the client sends until it
// ends, too, is silent for 5 s, or has had 30 s: so that a client that was answered before it had
// sent everything gets its answer. Nobody else may be reading from it.
Task<void> drop_rest(std::shared_ptr<Connection> connection);

// Both, one after the other.
Task<void> refuse(std::shared_ptr<Connection> connection, Stream& client, int status,
                  std::string target, std::string_view reason);

}  // namespace sandgate::egress
