#pragma once
#include <string>
#include <string_view>

// Starts a shell that reads its script from stdin. For backends that log requests or limit their
// size, so that a command's text and environment must not be part of the request. Where stdin
// cannot be closed, input is sent as base64 lines with an end mark.
namespace sandgate::shell {

// For `sh -c`: runs the script on the first line of stdin; the script inherits the rest.
extern const char* const kReadScript;
// Encodes a script as that first line.
std::string script_line(std::string_view script);

// with_input_lines: a script that decodes such input. input_line: one line of it.
std::string with_input_lines(const std::string& script);
std::string input_line(std::string_view bytes);
inline constexpr const char* kInputEnd = ".\n";

// For terminals, which would truncate and echo the script: keep_script returns a line that stores
// it in a file, run_kept_script one that runs it once. `name` is letters and digits.
std::string keep_script(const std::string& script, const std::string& name);
std::string run_kept_script(const std::string& name);

}  // namespace sandgate::shell
