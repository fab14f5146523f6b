#pragma once
#include "gateway/compat/mcp/tool.hpp"

// Tools that expose servers in a sandbox.
namespace sandgate::compat::mcp {

Tool expose_port_tool();

}  // namespace sandgate::compat::mcp
