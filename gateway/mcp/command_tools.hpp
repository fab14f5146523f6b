#pragma once
#include "gateway/mcp/tool.hpp"

// Programs in a sandbox.
namespace sandgate::mcp {

Tool run_command_tool();
Tool run_code_tool();

}  // namespace sandgate::mcp
