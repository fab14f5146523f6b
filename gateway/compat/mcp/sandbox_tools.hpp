#pragma once
#include "gateway/compat/mcp/tool.hpp"

// Tools that create, list and end sandboxes.
namespace sandgate::compat::mcp {

Tool sandbox_create_tool();
Tool sandbox_list_tool();
Tool sandbox_kill_tool();

}  // namespace sandgate::compat::mcp
