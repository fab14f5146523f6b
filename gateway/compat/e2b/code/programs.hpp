#pragma once
#include <string_view>

// The programs, beside this file, that run code inside a sandbox for CodeInterpreter.
namespace sandgate::compat::e2b {

std::string_view client_program();  // of one call: finds or starts the context's session
// A session is the first text and then one of the others.
std::string_view session_program();
std::string_view python_session_program();
std::string_view child_session_program();
std::string_view node_session_program();  // for the child of a session

}  // namespace sandgate::compat::e2b
