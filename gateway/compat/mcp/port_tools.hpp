#pragma once
#include "gateway/compat/mcp/tool.hpp"

// Servers in a sandbox that are reached from outside.
namespace sandgate::compat::mcp {

Tool expose_port_tool();

}  // namespace sandgate::compat::mcp
