#pragma once
#include "gateway/compat/mcp/tool.hpp"

// Tools that run programs in a sandbox.
namespace sandgate::compat::mcp {

Tool run_command_tool();
Tool run_code_tool();

}  // namespace sandgate::compat::mcp
