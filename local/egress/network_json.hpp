#pragma once
#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::egress {

// A policy in the node's requests, its journal and its commands to the egress process:
// {"default": "allow" | "deny", "allow": [rules]}.
Json network_json(const NetworkPolicy& network);
NetworkPolicy network_from(const Json& json);  // throws Json::exception; does not check the rules

}  // namespace sandgate::egress
