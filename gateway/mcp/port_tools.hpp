#pragma once
#include "gateway/mcp/tool.hpp"

// Servers in a sandbox that are reached from outside.
namespace sandgate::mcp {

Tool expose_port_tool();

}  // namespace sandgate::mcp
