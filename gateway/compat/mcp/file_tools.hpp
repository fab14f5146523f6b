#pragma once
#include "gateway/compat/mcp/tool.hpp"

// Tools for files in a sandbox. Relative paths start at the home of the sandbox's user.
namespace sandgate::compat::mcp {

Tool read_file_tool();
Tool write_file_tool();
Tool list_files_tool();

}  // namespace sandgate::compat::mcp
