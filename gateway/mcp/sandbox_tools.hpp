#pragma once
#include "gateway/mcp/tool.hpp"

// Sandboxes themselves.
namespace sandgate::mcp {

Tool sandbox_create_tool();
Tool sandbox_list_tool();
Tool sandbox_kill_tool();

}  // namespace sandgate::mcp
